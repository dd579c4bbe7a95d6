// postgres.js: prepared and unprepared statements, pipelining, its cursor, transactions, COPY, LISTEN, and the simple protocol.
const postgres = require('postgres')

const say = (...v) => console.log(v.map(x => JSON.stringify(x)).join(' '))
const row = (mode, question, ...v) => console.log(['dashboard', mode, question, ...v].join('\t'))
const connect = o => postgres({ max: 1, ssl: false, onnotice: n => say('notice', n.message), ...o })

async function crud () {
  for (const prepare of [true, false]) {
    const sql = connect({ prepare })
    await sql`TRUNCATE item`
    await sql.begin(async sql => {
      await sql`INSERT INTO item ${sql({ id: 1, name: 'Käse "alt"', price: '12.50', weight: 0.1, ok: true, added: new Date(1709204400000), day: '2024-02-29', data: Buffer.from([0, 255]), tags: ['a', 'b c'] })}`
      await sql`INSERT INTO item ${sql([{ id: 2, name: 'nothing' }, { id: 3, name: 'more' }], 'id', 'name')}`
      await sql.savepoint(sql => sql`INSERT INTO item (id, name) VALUES (1, 'again')`).catch(e => say(e.code, e.severity, e.message, e.constraint_name))
    })
    const all = await sql`SELECT id, name, price, weight, ok, added, day::text, data, tags FROM item WHERE id <= ${2} ORDER BY id`
    say(all.columns.map(c => [c.name, c.type]), all)
    say(await sql`UPDATE item SET price = price * 2 WHERE id = ${1} RETURNING price`)
    say((await sql`DELETE FROM item WHERE id = ${3}`).count)
    await sql`SELECT nosuch FROM item`.catch(e => say(e.code, e.position))
    // Sent without waiting for each other.
    say(await Promise.all([1, 2, 3].map(i => sql`SELECT ${i}::int + 1 AS n`)))
    await sql`SELECT i FROM generate_series(1, ${7}) AS i`.cursor(3, rows => say(rows))
    say(await sql`SELECT 1 AS a; SELECT 'two' AS b`.simple())
    const writable = await sql`COPY item (id, name) FROM STDIN`.writable()
    await new Promise((resolve, reject) => { writable.on('finish', resolve); writable.on('error', reject); writable.end('8\teight\n9\tnine\n') })
    let text = ''
    for await (const chunk of await sql`COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT`.readable()) text += chunk
    say(text)
    const heard = new Promise(resolve => sql.listen('events', resolve).then(() => sql.notify('events', 'called')))
    say(await heard)
    await sql.end()
  }
}

async function dashboard () {
  for (const prepare of [true, false]) {
    const sql = connect({ prepare })
    const mode = prepare ? 'prepared' : 'unprepared'
    for (const x of await sql`SELECT sex, count(*) AS n, avg(age) AS a FROM adult GROUP BY sex ORDER BY sex`) row(mode, 'by_sex', x.sex, x.n, x.a)
    const edu = () => sql`SELECT education, count(*) AS n FROM adult WHERE sex = ${'Female'} AND age > ${20} GROUP BY education ORDER BY education`
    for (const x of await edu()) row(mode, 'by_education', x.education, x.n)
    await edu().cursor(5, rows => rows.forEach(x => row(mode + ' cursor', 'by_education', x.education, x.n)))
    // Two protected statements and an ordinary one, sent without waiting for each other.
    const [t, one, s] = await Promise.all([
      sql`SELECT sum(hours_per_week) AS h, avg(capital_gain)::float8 AS g FROM adult WHERE education = ${'Bachelors'}`,
      sql`SELECT 1 AS one`,
      sql`SELECT sex, count(*) AS n, avg(age) AS a FROM adult GROUP BY sex ORDER BY sex`])
    row(mode, 'totals', t[0].h, t[0].g)
    for (const x of s) row(mode + ' pipeline ' + one[0].one, 'by_sex', x.sex, x.n, x.a)
    for (const x of await sql`SELECT sum(hours_per_week) AS h, avg(capital_gain)::float8 AS g FROM adult WHERE education = 'Bachelors'`.simple()) row(mode + ' simple', 'totals', x.h, x.g)
    await sql.end()
  }
}

const version = () => console.log('postgres ' + JSON.parse(require('fs').readFileSync(require.resolve('postgres').replace(/cjs.src.index.js$/, 'package.json'))).version)
Promise.resolve({ crud, dashboard, version }[process.argv[2]]()).catch(e => { console.error(e); process.exit(1) })
