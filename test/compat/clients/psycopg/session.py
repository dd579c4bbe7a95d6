"""psycopg 3: text and binary, server-side parameters, prepared statements, pipelines, cursors, COPY, notices, LISTEN."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import psycopg
import session


def crud():
    with psycopg.connect() as conn:
        conn.add_notice_handler(lambda n: session.say("notice", n.message_primary))
        session.dbapi_crud(conn, psycopg.Error, lambda e: e.sqlstate)
        for binary in (False, True):
            for prepare in (False, True):
                cur = conn.cursor(binary=binary)
                cur.execute("SELECT id, name, price, weight, ok, added, day, data, tags FROM item WHERE id <= %b ORDER BY id", (2,), prepare=prepare)
                session.say(binary, cur.fetchall())
        conn.execute("DO $$ BEGIN RAISE NOTICE 'heard'; END $$")
        with conn.cursor().copy("COPY item (id, name) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "text"])
            copy.write_row((8, "eight"))
        with conn.cursor().copy("COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT") as copy:
            session.say([bytes(b) for b in copy])
        conn.commit()
        with conn.pipeline() as p:
            a = conn.execute("SELECT %s::int + 1", (1,))
            conn.execute("UPDATE item SET weight = 7 WHERE id = 2")
            b = conn.execute("SELECT weight FROM item WHERE id = 2")
            p.sync()
            session.say(a.fetchone(), b.fetchone())
            failing = conn.execute("SELECT 1/0")
            try:
                failing.fetchone()  # waits for the answer: when the error of an execute comes is a matter of luck
            except psycopg.Error as e:
                session.say(e.sqlstate)
        conn.rollback()
        with conn.cursor("named") as cur:
            cur.itersize = 2
            session.say(cur.execute("SELECT id FROM item ORDER BY id").fetchall())
        with conn.cursor() as cur:
            session.say(list(cur.stream("SELECT id, name FROM item ORDER BY id")))
        conn.commit()
        conn.autocommit = True
        conn.execute("LISTEN events")
        conn.add_notify_handler(lambda n: session.say(n.channel, n.payload, n.pid == conn.info.backend_pid))
        conn.execute("SELECT pg_notify('events', 'called')")
        conn.execute("SELECT 1")


def dashboard():
    with psycopg.connect() as conn:
        session.dbapi_dashboard(conn, "text")
        for prepare in (False, True):
            mode = "binary prepared" if prepare else "binary"
            with conn.cursor(binary=True) as cur:
                session.rows(mode, "by_sex", cur.execute(session.BY_SEX, prepare=prepare).fetchall())
                session.rows(mode, "by_education", cur.execute(session.BY_EDUCATION.replace("%s", "%b"), ("Female", 20), prepare=prepare).fetchall())
                session.rows(mode, "totals", cur.execute(session.TOTALS.replace("%s", "%b"), ("Bachelors",), prepare=prepare).fetchall())
        with conn.pipeline():
            a = conn.execute(session.BY_SEX)
            conn.execute("SELECT 1")
            b = conn.execute(session.TOTALS, ("Bachelors",))
            session.rows("pipeline", "by_sex", a.fetchall())
            session.rows("pipeline", "totals", b.fetchall())
        with conn.cursor("named") as cur:
            cur.itersize = 5
            session.rows("named cursor", "by_education", cur.execute(session.BY_EDUCATION, ("Female", 20)).fetchall())
        with conn.cursor() as cur:
            session.rows("stream", "by_education", list(cur.stream(session.BY_EDUCATION, ("Female", 20))))


session.main(crud, dashboard, lambda: "psycopg " + psycopg.__version__)
