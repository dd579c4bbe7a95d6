// An ordinary session and three protected statements through node-postgres. The connection comes from PG* variables.
const assert = require('assert')
const { Client } = require('pg')

async function main () {
  const c = new Client()
  await c.connect()

  await c.query('BEGIN')
  await c.query('INSERT INTO country VALUES ($1, $2)', ['Nodeland', 'Nowhere'])
  let r = await c.query('UPDATE country SET continent = $2 WHERE name = $1 RETURNING continent', ['Nodeland', 'Elsewhere'])
  assert.deepStrictEqual(r.rows, [{ continent: 'Elsewhere' }])
  r = await c.query('DELETE FROM country WHERE name = $1', ['Nodeland'])
  assert.strictEqual(r.rowCount, 1)
  await c.query('ROLLBACK')

  // Simple protocol.
  r = await c.query('SELECT sex, count(*) AS n FROM adult GROUP BY sex ORDER BY sex')
  assert.deepStrictEqual(r.rows.map(x => x.sex), ['Female', 'Male'])
  const female = Number(r.rows[0].n)
  // Extended protocol, a named statement executed twice: the second answer is the stored one.
  const q = { name: 'avg-age', text: 'SELECT avg(age) AS a, count(*) AS n FROM adult WHERE sex = $1', values: ['Female'] }
  const first = (await c.query(q)).rows[0]
  assert.ok(Number(first.a) > 20 && Number(first.a) < 60, first.a)
  assert.deepStrictEqual((await c.query(q)).rows[0], first)
  // HAVING and ORDER BY above the cut, over the F that is stored already.
  r = await c.query('SELECT sex FROM adult GROUP BY sex HAVING count(*) >= $1 ORDER BY count(*) DESC', [female])
  assert.ok(r.rows.some(x => x.sex === 'Female'))

  await assert.rejects(c.query('SELECT max(age) FROM adult'), e => e.code === 'PV001' && e.position === '8' && !!e.hint)
  r = await c.query('SELECT 1 AS one')
  assert.strictEqual(r.rows[0].one, 1)
  await c.end()
  console.log('ok')
}

main().catch(e => { console.error(e); process.exit(1) })
