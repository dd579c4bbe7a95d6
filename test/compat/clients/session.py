"""What the sessions in Python have in common. Each prints what it sees, so that two runs can be compared."""
import sys

INSERT = ("INSERT INTO item (id, name, price, weight, ok, added, day, data, tags) VALUES "
          "(%s, %s, %s, %s, %s, %s, %s, %s, %s)")
BY_SEX = "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex"
BY_EDUCATION = "SELECT education, count(*) FROM adult WHERE sex = %s AND age > %s GROUP BY education ORDER BY education"
TOTALS = "SELECT sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = %s"


def first():
    import datetime
    import decimal
    zone = datetime.timezone(datetime.timedelta(hours=1))
    return (1, 'Käse "alt"', decimal.Decimal("12.50"), 0.1, True, datetime.datetime(2024, 2, 29, 12, 0, tzinfo=zone),
            datetime.date(2024, 2, 29), b"\x00\xff", ["a", "b c"])


def plain(v):
    """What a value is, whatever the objects are that a driver makes of bytes and time zones."""
    import datetime
    if isinstance(v, memoryview):
        return repr(bytes(v))
    return v.isoformat() if isinstance(v, datetime.datetime) else repr(v)


def say(*values):
    print(*map(plain, values))


def rows(mode, question, rows):
    for row in rows:
        print("dashboard", mode, question, *row, sep="\t")


def dbapi_crud(conn, error, code, insert=INSERT, mark="%s"):
    """A session in the manner of PEP 249; code gives the SQLSTATE of an error."""
    def sql(text):
        return text.replace("%s", mark)

    cur = conn.cursor()
    cur.execute(insert, first())
    cur.executemany(sql("INSERT INTO item (id, name) VALUES (%s, %s)"), [(2, "nothing"), (3, "more")])
    conn.commit()
    cur.execute(sql("SELECT id, name, price, weight, ok, added, day, data, tags FROM item WHERE id <= %s ORDER BY id"), (2,))
    say([(d[0], d[1]) for d in cur.description])
    for row in cur.fetchall():
        say(*row)
    cur.execute(sql("UPDATE item SET price = price * 2 WHERE id = %s RETURNING price"), (1,))
    say(cur.rowcount, cur.fetchone()[0])
    cur.execute("SAVEPOINT s")
    for bad in ("INSERT INTO item (id, name) VALUES (1, 'again')", "SELECT nosuch FROM item", "SELECT 1/0"):
        try:
            cur.execute(bad)
        except error as e:
            say(type(e).__name__, code(e))
        cur.execute("ROLLBACK TO s")
    cur.execute(sql("DELETE FROM item WHERE id = %s"), (3,))
    say(cur.rowcount)
    conn.rollback()
    cur.execute("SELECT count(*), sum(price) FROM item")
    say(*cur.fetchone())
    conn.commit()


def dbapi_dashboard(conn, mode, mark="%s"):
    def sql(text):
        return text.replace("%s", mark)

    cur = conn.cursor()
    cur.execute(BY_SEX)
    rows(mode, "by_sex", cur.fetchall())
    for _ in range(2):
        cur.execute(sql(BY_EDUCATION), ("Female", 20))
        rows(mode, "by_education", cur.fetchall())
    cur.execute(sql(TOTALS), ("Bachelors",))
    rows(mode, "totals", cur.fetchall())
    conn.rollback()


def main(crud, dashboard, version):
    {"crud": crud, "dashboard": dashboard, "version": lambda: print(version())}[sys.argv[1]]()
