// node-postgres in text and binary, with prepared statements, a pool, and pg-cursor.
const { Client, Pool } = require('pg')
const Cursor = require('pg-cursor')

const say = (...v) => console.log(v.map(x => JSON.stringify(x)).join(' '))
const row = (mode, question, ...v) => console.log(['dashboard', mode, question, ...v].join('\t'))

async function crud () {
  const c = new Client()
  c.on('notice', n => say('notice', n.message))
  c.on('notification', n => say('notification', n.channel, n.payload, n.processId === c.processID))
  await c.connect()
  await c.query('BEGIN')
  const insert = 'INSERT INTO item VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)'
  await c.query(insert, [1, 'Käse "alt"', '12.50', 0.1, true, '2024-02-29 12:00+01', '2024-02-29', Buffer.from([0, 255]), ['a', 'b c', null]])
  let r = await c.query({ name: 'insert', text: insert + ' RETURNING id', values: [2, 'nothing', null, null, null, null, null, null, null] })
  say(r.command, r.rowCount, r.rows)
  await c.query('SAVEPOINT s')
  await c.query(insert, [1, 'again', null, null, null, null, null, null, null]).catch(e => say(e.code, e.severity, e.message, e.detail, e.constraint, e.table))
  await c.query('ROLLBACK TO s')
  await c.query('COMMIT')
  for (const binary of [false, true]) {
    for (const name of [undefined, 'select-' + binary]) {
      r = await c.query({ name, text: 'SELECT id, name, weight, ok, added, data, tags FROM item WHERE id <= $1 ORDER BY id', values: [2], binary })
      say(binary, r.fields.map(f => [f.name, f.dataTypeID, f.format]), r.rows)
    }
  }
  r = await c.query({ text: 'UPDATE item SET price = price * 2 WHERE id = $1 RETURNING price', values: [1], rowMode: 'array' })
  say(r.command, r.rowCount, r.rows)
  r = await c.query("SELECT 1 AS a; SELECT 'two' AS b; DELETE FROM item WHERE id = 2")
  say(r.map(x => [x.command, x.rowCount, x.rows]))
  await c.query('SELECT nosuch FROM item').catch(e => say(e.code, e.position))
  await c.query("DO $$ BEGIN RAISE NOTICE 'heard'; END $$")
  await c.query('LISTEN events')
  await c.query("SELECT pg_notify('events', 'called')")
  const cursor = c.query(new Cursor('SELECT i FROM generate_series(1, $1) AS i', [7]))
  for (let rows = await cursor.read(3); rows.length > 0; rows = await cursor.read(3)) say(rows)
  await cursor.close()
  const early = c.query(new Cursor('SELECT i FROM generate_series(1, 100000) AS i'))
  say(await early.read(2))
  await early.close()
  say((await c.query('SELECT count(*) FROM item')).rows)
  await c.end()
  const pool = new Pool({ max: 3 })
  const sums = await Promise.all([1, 2, 3, 4, 5, 6].map(i => pool.query('SELECT $1::int + 1 AS n', [i])))
  say(sums.map(x => x.rows[0].n))
  await pool.end()
}

async function dashboard () {
  const c = new Client()
  await c.connect()
  // The casts: in binary, this client gives numeric as bytes, and larger integers and float8 wrong.
  for (const binary of [false, true]) {
    const mode = binary ? 'binary' : 'text'
    let r = await c.query({ text: 'SELECT sex, count(*)::text AS n, avg(age)::text AS a FROM adult GROUP BY sex ORDER BY sex', binary })
    r.rows.forEach(x => row(mode, 'by_sex', x.sex, x.n, x.a))
    for (let i = 0; i < 2; i++) {
      r = await c.query({
        name: 'edu' + mode,
        text: 'SELECT education, count(*)::text AS n FROM adult WHERE sex = $1 AND age > $2 GROUP BY education ORDER BY education',
        values: ['Female', 20],
        binary
      })
      r.rows.forEach(x => row(mode + i, 'by_education', x.education, x.n))
    }
    r = await c.query({ text: 'SELECT sum(hours_per_week)::text AS h, avg(capital_gain)::float8::text AS g FROM adult WHERE education = $1', values: ['Bachelors'], binary })
    r.rows.forEach(x => row(mode, 'totals', x.h, x.g))
  }
  const cursor = c.query(new Cursor('SELECT education, count(*) AS n FROM adult WHERE sex = $1 AND age > $2 GROUP BY education ORDER BY education', ['Female', 20]))
  for (let rows = await cursor.read(5); rows.length > 0; rows = await cursor.read(5)) rows.forEach(x => row('cursor', 'by_education', x.education, x.n))
  await cursor.close()
  await c.end()
}

// Not every package lets its package.json be required.
const versionOf = p => p + ' ' + JSON.parse(require('fs').readFileSync(require.resolve(p).replace(new RegExp('(node_modules/' + p + '/).*'), '$1package.json'))).version
const versions = () => console.log(versionOf('pg') + ', ' + versionOf('pg-cursor'))
Promise.resolve({ crud, dashboard, version: versions }[process.argv[2]]()).catch(e => { console.error(e); process.exit(1) })
