"""Server-side cursors, COPY, CREATE TABLE AS and PREPARE through psycopg 3 and psycopg 2. The connection comes from PG* variables."""
import io

QUERY = "SELECT sex, count(*) AS n, avg(age) AS a FROM adult GROUP BY sex ORDER BY sex"
WHERE = "SELECT count(*) FROM adult WHERE education = %s AND age > %s"


def around(conn, rows):
    """Statements around QUERY, whose answer is rows."""
    with conn.cursor() as cur:
        cur.execute("CREATE TEMP TABLE kept AS " + QUERY)
        assert cur.rowcount == 2, cur.rowcount
        cur.execute("SELECT * FROM kept ORDER BY sex")
        assert cur.fetchall() == rows
        cur.execute("PREPARE q (text, int) AS SELECT count(*) FROM adult WHERE education = $1 AND age > $2")
        cur.execute("EXECUTE q ('Bachelors', 30)")
        executed = cur.fetchone()
        cur.execute("EXECUTE q ('Bache' || 'lors', '30')")
        assert cur.fetchone() == executed
        cur.execute("DEALLOCATE q")
    conn.rollback()


def main():
    import psycopg
    with psycopg.connect() as conn:
        rows = conn.execute(QUERY).fetchall()
        assert [r[0] for r in rows] == ["Female", "Male"]
        with conn.cursor(name="named", scrollable=True) as cur:
            cur.execute(QUERY)
            assert cur.fetchone() == rows[0] and cur.fetchall() == rows[1:]
            cur.scroll(0, mode="absolute")
            assert cur.fetchmany(5) == rows
        with conn.cursor(name="parameters") as cur:
            cur.execute(WHERE, ("Bachelors", 30))
            (n,) = cur.fetchone()
            assert (n,) == conn.execute(WHERE, ("Bachelors", 30)).fetchone()
        conn.commit()
        with conn.cursor(name="held", withhold=True) as cur:
            cur.itersize = 1
            cur.execute(QUERY)
            conn.commit()
            assert list(cur) == rows
        for form, want in (("", "%s\t%s\t%s\n"), (" (FORMAT csv)", "%s,%s,%s\n")):
            with conn.cursor().copy("COPY (" + QUERY + ") TO STDOUT" + form) as copy:
                assert b"".join(copy).decode() == "".join(want % r for r in rows)
        with conn.cursor().copy("COPY (" + QUERY + ") TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "int8", "numeric"])
            assert list(copy.rows()) == rows
        around(conn, rows)

    import psycopg2
    conn = psycopg2.connect("")
    with conn.cursor() as cur:
        cur.execute(QUERY)
        assert cur.fetchall() == rows
    with conn.cursor("named") as cur:
        cur.itersize = 1
        cur.execute(QUERY)
        assert list(cur) == rows
    with conn.cursor("parameters", scrollable=True) as cur:
        cur.execute(WHERE, ("Bachelors", 30))
        assert len(cur.fetchall()) == 1
        cur.scroll(0, mode="absolute")
        assert len(cur.fetchall()) == 1
    out = io.StringIO()
    with conn.cursor() as cur:
        cur.copy_expert("COPY (" + QUERY + ") TO STDOUT WITH CSV HEADER", out)
    assert out.getvalue() == "sex,n,a\n" + "".join("%s,%s,%s\n" % r for r in rows), out.getvalue()
    around(conn, rows)
    conn.close()
    print("ok")


main()
