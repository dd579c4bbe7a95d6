# ruby-pg: text and binary results, prepared statements, single-row mode, pipelines, COPY, notices, LISTEN.
require "pg"
$stdout.sync = true

INSERT = "INSERT INTO item VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
BY_SEX = "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex"
BY_EDUCATION = "SELECT education, count(*) FROM adult WHERE sex = $1 AND age > $2 GROUP BY education ORDER BY education"
TOTALS = "SELECT sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = $1"

def failing(conn, sql)
  conn.exec(sql)
rescue PG::Error => e
  p e.class, e.result&.error_field(PG::PG_DIAG_SQLSTATE), e.message
end

def crud
  conn = PG.connect
  conn.set_notice_receiver { |r| p r.error_field(PG::PG_DIAG_MESSAGE_PRIMARY) }
  conn.transaction do
    conn.exec_params(INSERT, [1, 'Käse "alt"', "12.50", 0.1, true, "2024-02-29 12:00+01", "2024-02-29", { value: "\x00\xff".b, format: 1 }, '{a,"b c"}'])
    conn.prepare("insert", INSERT)
    (2..4).each { |i| p conn.exec_prepared("insert", [i, "more"] + [nil] * 7).cmd_status }
  end
  failing(conn, "INSERT INTO item (id, name) VALUES (1, 'again')")
  failing(conn, "SELECT nosuch FROM item")
  failing(conn, "SELECT 1/0")
  [0, 1].each do |format|
    r = conn.exec_params("SELECT * FROM item WHERE id <= $1 ORDER BY id", [2], format)
    p r.fields, r.nfields.times.map { |i| [r.ftype(i), r.fformat(i), r.fmod(i)] }, r.values
  end
  p conn.exec_params("UPDATE item SET price = price * 2 WHERE id = $1 RETURNING price", [1]).values
  p conn.exec("DELETE FROM item WHERE id = 4").cmd_tuples
  p conn.describe_prepared("insert").nparams
  conn.copy_data("COPY item (id, name) FROM STDIN") { conn.put_copy_data("8\teight\n") }
  conn.copy_data("COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT") { while (line = conn.get_copy_data) do p line end }
  conn.send_query("SELECT i FROM generate_series(1, 5) AS i")
  conn.set_single_row_mode
  conn.get_result.stream_each { |row| p row }
  conn.get_last_result
  conn.exec("DO $$ BEGIN RAISE NOTICE 'heard'; END $$")
  conn.exec("LISTEN events")
  conn.exec("SELECT pg_notify('events', 'called')")
  conn.wait_for_notify(10) { |channel, pid, payload| p channel, payload, pid == conn.backend_pid }
  conn.enter_pipeline_mode
  conn.send_query_params("SELECT $1::int + 1", [1])
  conn.send_query_params("SELECT 1/0", [])
  conn.send_query_params("SELECT 3", [])
  conn.pipeline_sync
  conn.send_query_params("SELECT 4", [])
  conn.pipeline_sync
  2.times do
    loop do
      r = conn.get_result or next
      p r.res_status(r.result_status), (r.values if r.result_status == PG::PGRES_TUPLES_OK)
      break if r.result_status == PG::PGRES_PIPELINE_SYNC
    end
  end
  conn.exit_pipeline_mode
  conn.send_query("SELECT pg_sleep(60)")
  sleep 0.1
  p conn.cancel
  begin
    conn.get_last_result
  rescue PG::Error => e
    p e.class
  end
  conn.reset
  p conn.exec("SELECT count(*) FROM item").getvalue(0, 0)
  conn.close
end

def rows(mode, question, values)
  values.each { |v| puts ["dashboard", mode, question, *v].join("\t") }
end

def dashboard
  conn = PG.connect
  rows("text", "by_sex", conn.exec(BY_SEX).values)
  conn.prepare("edu", BY_EDUCATION)
  2.times { rows("text", "by_education", conn.exec_prepared("edu", ["Female", 20]).values) }
  rows("text", "totals", conn.exec_params(TOTALS, ["Bachelors"]).values)
  # Binary counts and floats, decoded here; numeric has no decoder in this version.
  long = ->(s) { s.unpack1("q>") }
  rows("binary", "by_education", conn.exec_prepared("edu", ["Female", 20], 1).values.map { |k, n| [k, long[n]] })
  rows("binary", "totals", conn.exec_params(TOTALS, ["Bachelors"], 1).values.map { |h, g| [long[h], g.unpack1("G")] })
  conn.enter_pipeline_mode
  conn.send_query_params(BY_SEX, [])
  conn.send_query_params("SELECT 1", [])
  conn.send_query_params(TOTALS, ["Bachelors"])
  conn.pipeline_sync
  results = []
  loop do
    r = conn.get_result or next
    break if r.result_status == PG::PGRES_PIPELINE_SYNC
    results << r.values
  end
  rows("pipeline", "by_sex", results[0])
  rows("pipeline", "totals", results[2])
  conn.close
end

case ARGV[0]
when "crud" then crud
when "dashboard" then dashboard
else puts "pg " + PG::VERSION
end
