module record

go 1.24
