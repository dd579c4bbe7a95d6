"""SQLAlchemy: reflection, its ORM and expression language, over psycopg 2 and asyncpg; savepoints and a server-side cursor."""
import asyncio
import datetime
import decimal
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import session
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session, declarative_base

adult = sa.table("adult", *map(sa.column, ("sex", "age", "education", "hours_per_week", "capital_gain")))
count = sa.func.count()
BY_SEX = sa.select(adult.c.sex, count, sa.func.avg(adult.c.age)).group_by(adult.c.sex).order_by(adult.c.sex)
BY_EDUCATION = (sa.select(adult.c.education, count).where(adult.c.sex == "Female", adult.c.age > 20)
                .group_by(adult.c.education).order_by(adult.c.education))
TOTALS = (sa.select(sa.func.sum(adult.c.hours_per_week), sa.cast(sa.func.avg(adult.c.capital_gain), sa.Float(53)))
          .where(adult.c.education == "Bachelors"))


def engine(driver="psycopg2", **more):
    e = os.environ
    url = sa.engine.URL.create("postgresql+" + driver, e["PGUSER"], e["PGPASSWORD"] or None, e["PGHOST"], int(e["PGPORT"]), e["PGDATABASE"])
    return (create_async_engine if driver == "asyncpg" else sa.create_engine)(url, **more)


def crud():
    eng = engine()
    columns = sa.inspect(eng).get_columns("item")
    session.say([(c["name"], str(c["type"]), c["nullable"]) for c in columns], sa.inspect(eng).get_pk_constraint("item"))
    Base = declarative_base()

    class Item(Base):
        __table__ = sa.Table("item", Base.metadata, autoload_with=eng)

    with Session(eng) as s:
        s.add(Item(id=1, name='Käse "alt"', price=decimal.Decimal("12.50"), weight=0.1, ok=True, data=b"\x00\xff", tags=["a", "b c"],
                   added=datetime.datetime(2024, 2, 29, 11, tzinfo=datetime.timezone.utc), day=datetime.date(2024, 2, 29)))
        s.add_all([Item(id=i, name="more") for i in range(2, 50)])
        s.commit()
        one = s.get(Item, 1)
        session.say(one.name, one.price, one.weight, one.ok, one.added, one.day, bytes(one.data), one.tags)
        one.price *= 2
        s.flush()
        try:
            with s.begin_nested():
                s.execute(sa.insert(Item).values(id=1, name="again"))
        except sa.exc.IntegrityError as e:
            session.say(e.orig.pgcode)
        session.say(s.execute(sa.delete(Item).where(Item.id > 10)).rowcount)
        s.rollback()
        session.say(s.execute(sa.select(sa.func.count(), sa.func.sum(Item.price))).one())
        session.say([i.id for i in s.execute(sa.select(Item).order_by(Item.id).execution_options(stream_results=True, max_row_buffer=7)).scalars()])


async def binary():
    eng = engine("asyncpg")
    async with eng.connect() as conn:
        session.rows("asyncpg", "by_sex", (await conn.execute(BY_SEX)).all())
        session.rows("asyncpg", "by_education", (await conn.execute(BY_EDUCATION)).all())
        session.rows("asyncpg", "totals", (await conn.execute(TOTALS)).all())
    await eng.dispose()


def dashboard():
    with engine().connect() as conn:
        session.rows("psycopg2", "by_sex", conn.execute(BY_SEX))
        session.rows("psycopg2", "by_education", conn.execute(BY_EDUCATION))
        session.rows("psycopg2 stream", "by_education", conn.execution_options(stream_results=True).execute(BY_EDUCATION))
        session.rows("psycopg2", "totals", conn.execute(TOTALS))
    asyncio.run(binary())


session.main(crud, dashboard, lambda: "SQLAlchemy " + sa.__version__)
