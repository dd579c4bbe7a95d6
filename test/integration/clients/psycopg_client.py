"""An ordinary session and three protected statements through psycopg 3 and psycopg 2. The connection comes from PG* variables."""
import sys


def crud(conn):
    with conn.cursor() as cur:
        cur.execute("INSERT INTO country VALUES (%s, %s)", ("Pythonia", "Nowhere"))
        cur.execute("UPDATE country SET continent = %s WHERE name = %s RETURNING continent", ("Elsewhere", "Pythonia"))
        assert cur.fetchall() == [("Elsewhere",)]
        cur.execute("DELETE FROM country WHERE name = %s", ("Pythonia",))
        assert cur.rowcount == 1
    conn.rollback()


def protected(conn, error):
    with conn.cursor() as cur:
        cur.execute("SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex")
        rows = cur.fetchall()
        assert [r[0] for r in rows] == ["Female", "Male"], rows
        assert all(isinstance(r[1], int) and 20 < r[2] < 60 for r in rows), rows
        cur.execute("SELECT avg(hours_per_week) FROM adult WHERE education = %s AND age > %s", ("Bachelors", 30))
        first = cur.fetchone()
        cur.execute("SELECT avg(hours_per_week) FROM adult WHERE education = %s AND age > %s", ("Bachelors", 30))
        assert cur.fetchone() == first
        cur.execute("SELECT sum(capital_gain) FROM adult WHERE sex = %s", ("Female",))
        assert isinstance(cur.fetchone()[0], int)
    conn.commit()
    try:
        with conn.cursor() as cur:
            cur.execute("SELECT max(age) FROM adult")
    except error as e:
        code = getattr(e, "sqlstate", None) or e.pgcode
        assert code == "PV001", code
    else:
        raise AssertionError("max(age) was answered")
    conn.rollback()


def main():
    import psycopg
    with psycopg.connect() as conn:
        crud(conn)
        protected(conn, psycopg.Error)
        with conn.cursor(binary=True) as cur:
            cur.execute("SELECT count(*), avg(age) FROM adult WHERE sex = %b", ("Male",))
            n, a = cur.fetchone()
            assert isinstance(n, int) and 20 < a < 60
        with conn.pipeline():
            cur1 = conn.execute("SELECT %s::int", (1,))
            cur2 = conn.execute("SELECT count(*) FROM adult WHERE sex = %s", ("Male",))
            cur3 = conn.execute("SELECT %s::int", (3,))
            assert cur1.fetchone() == (1,) and isinstance(cur2.fetchone()[0], int) and cur3.fetchone() == (3,)
    import psycopg2
    conn = psycopg2.connect("")
    crud(conn)
    protected(conn, psycopg2.Error)
    conn.close()
    print("ok")


if __name__ == "__main__":
    sys.exit(main())
