"""asyncpg: everything in binary and prepared; its cursors, executemany, COPY, pool and listeners."""
import asyncio
import io
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import asyncpg
import session


def dollars(sql):
    for i in range(1, sql.count("%s") + 1):
        sql = sql.replace("%s", "$%d" % i, 1)
    return sql


async def crud():
    conn = await asyncpg.connect()
    conn.add_log_listener(lambda _, m: session.say("notice", m.message))
    async with conn.transaction():
        session.say(await conn.execute(dollars(session.INSERT), *session.first()))
        await conn.executemany("INSERT INTO item (id, name) VALUES ($1, $2)", [(2, "nothing"), (3, "more")])
        for bad in ("INSERT INTO item (id, name) VALUES (1, 'again')", "SELECT nosuch FROM item", "SELECT 1/0"):
            try:
                async with conn.transaction():
                    await conn.execute(bad)
            except asyncpg.PostgresError as e:
                session.say(type(e).__name__, e.sqlstate)
    for row in await conn.fetch("SELECT * FROM item WHERE id <= $1 ORDER BY id", 2):
        session.say(dict(row))
    session.say(await conn.fetchval("UPDATE item SET price = price * 2 WHERE id = $1 RETURNING price", 1))
    session.say(await conn.execute("DELETE FROM item WHERE id = $1", 3))
    await conn.execute("DO $$ BEGIN RAISE NOTICE 'heard'; END $$; SELECT 1")
    session.say(await conn.copy_records_to_table("item", records=[(8, "eight"), (9, "nine")], columns=["id", "name"]))
    out = io.BytesIO()
    session.say(await conn.copy_from_query("SELECT id, name FROM item ORDER BY id", output=out), out.getvalue())
    async with conn.transaction():
        session.say([r["i"] async for r in conn.cursor("SELECT i FROM generate_series(1, $1) AS i", 7, prefetch=3)])
    heard = asyncio.get_running_loop().create_future()
    await conn.add_listener("events", lambda c, pid, channel, payload: heard.set_result((channel, payload, pid == c.get_server_pid())))
    await conn.execute("SELECT pg_notify('events', 'called')")
    session.say(*await asyncio.wait_for(heard, 10))
    try:
        await conn.execute("SELECT pg_sleep(60)", timeout=0.2)
    except asyncio.TimeoutError:
        session.say("canceled")
    session.say(await conn.fetchval("SELECT 1"))
    await conn.close()
    async with asyncpg.create_pool(min_size=2, max_size=3) as pool:
        session.say(await asyncio.gather(*[pool.fetchval("SELECT $1::int + 1", i) for i in range(6)]))


async def dashboard():
    conn = await asyncpg.connect()
    for _ in range(2):
        session.rows("binary", "by_sex", await conn.fetch(session.BY_SEX))
        session.rows("binary", "by_education", await conn.fetch(dollars(session.BY_EDUCATION), "Female", 20))
        session.rows("binary", "totals", await conn.fetch(dollars(session.TOTALS), "Bachelors"))
    async with conn.transaction():
        session.rows("cursor", "by_education", [r async for r in conn.cursor(dollars(session.BY_EDUCATION), "Female", 20, prefetch=5)])
    await conn.close()


session.main(lambda: asyncio.run(crud()), lambda: asyncio.run(dashboard()), lambda: "asyncpg " + asyncpg.__version__)
