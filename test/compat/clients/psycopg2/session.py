"""psycopg 2: client-side parameters, a named cursor, COPY, notices, LISTEN."""
import io
import os
import select
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import psycopg2
import psycopg2.extras
import session


def crud():
    conn = psycopg2.connect("")
    session.dbapi_crud(conn, psycopg2.Error, lambda e: e.pgcode)
    cur = conn.cursor()
    cur.copy_expert("COPY item (id, name) FROM STDIN", io.StringIO("8\teight\n9\tnine\n"))
    out = io.StringIO()
    cur.copy_expert("COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT", out)
    session.say(out.getvalue())
    cur.execute("DO $$ BEGIN RAISE NOTICE 'heard'; END $$")
    session.say(conn.notices)
    named = conn.cursor("named")
    named.itersize = 2
    named.execute("SELECT id FROM item ORDER BY id")
    session.say(list(named))
    conn.commit()
    psycopg2.extras.execute_values(cur, "INSERT INTO item (id, name) VALUES %s", [(i, "v") for i in range(20, 300)])
    session.say(cur.rowcount)
    conn.rollback()
    conn.autocommit = True
    cur.execute("LISTEN events")
    cur.execute("SELECT pg_notify('events', 'called')")
    select.select([conn], [], [], 10)
    conn.poll()
    session.say([(n.channel, n.payload, n.pid == conn.info.backend_pid) for n in conn.notifies])


def dashboard():
    conn = psycopg2.connect("")
    session.dbapi_dashboard(conn, "text")
    named = conn.cursor("named")
    named.itersize = 5
    named.execute(session.BY_EDUCATION, ("Female", 20))
    session.rows("named cursor", "by_education", list(named))


session.main(crud, dashboard, lambda: "psycopg2 " + psycopg2.__version__.split()[0])
