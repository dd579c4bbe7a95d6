"""psqlODBC under pyodbc, with and without cursors (UseDeclareFetch) and server-side prepare."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pyodbc
import session

pyodbc.pooling = False
MODES = [(fetch, prepare) for fetch in (0, 1) for prepare in (0, 1)]


def connect(fetch, prepare):
    e = os.environ
    return pyodbc.connect("DRIVER={PostgreSQL Unicode};SERVER=%s;PORT=%s;DATABASE=%s;UID=%s;PWD={%s};SSLmode=disable;UseDeclareFetch=%d;Fetch=3;UseServerSidePrepare=%d"
                          % (e["PGHOST"], e["PGPORT"], e["PGDATABASE"], e["PGUSER"], e["PGPASSWORD"], fetch, prepare))


def crud():
    for mode in MODES:
        session.say(mode)
        conn = connect(*mode)
        cur = conn.cursor()
        cur.execute("TRUNCATE item")
        cur.execute("INSERT INTO item (id, name, price, weight, ok, day, data) VALUES (?, ?, ?, ?, ?, ?, ?)", [v for i, v in enumerate(session.first()) if i not in (5, 8)])
        cur.executemany("INSERT INTO item (id, name) VALUES (?, ?)", [(i, "more") for i in range(2, 20)])
        conn.commit()
        cur.execute("SELECT id, name, price, weight, ok, day, data FROM item WHERE id <= ? ORDER BY id", 2)
        session.say([(d[0], d[1].__name__) for d in cur.description])
        session.say(*cur.fetchall())
        cur.execute("SELECT id FROM item ORDER BY id")
        session.say([r[0] for r in cur])
        for bad in ("INSERT INTO item (id, name) VALUES (1, 'again')", "SELECT nosuch FROM item", "SELECT 1/0"):
            try:
                cur.execute(bad)
                session.say(cur.fetchall())
            except pyodbc.Error as e:
                session.say(type(e).__name__, e.args)
            conn.rollback()
        cur.execute("UPDATE item SET price = price * 2 WHERE id = ?", 1)
        session.say(cur.rowcount)
        cur.execute("DELETE FROM item WHERE id > ?", 5)
        session.say(cur.rowcount)
        conn.rollback()
        session.say([(r.column_name, r.type_name) for r in cur.columns(table="item")])
        session.say([r.column_name for r in cur.primaryKeys("item")])
        session.say(cur.execute("SELECT count(*), sum(price) FROM item").fetchall())
        conn.close()


def dashboard():
    for mode in MODES:
        conn = connect(*mode)
        session.dbapi_dashboard(conn, "UseDeclareFetch=%d UseServerSidePrepare=%d" % mode, "?")
        conn.close()


def version():
    conn = connect(0, 0)
    return "psqlODBC " + conn.getinfo(pyodbc.SQL_DRIVER_VER)


session.main(crud, dashboard, version)
