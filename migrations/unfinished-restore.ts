import { escapeLiteral, type ClientBase } from 'pg'

/**
 * A restored database has a note until its newer migrations have run, as a comment on the list of migrations: it is
 * written with the rows, and tells a restoration that is run again that they are there.
 */

/** The beginning of the comment, which tells it from one that an operator has written. */
const mark = 'Isobot restore: '

/** @returns the note's text, or null when no restoration waits for its migrations */
export async function readUnfinishedRestore(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ note: string | null }>(
    `select obj_description(to_regclass('knex_migrations'), 'pg_class') as note`,
  )
  const { note } = rows[0]!
  return note?.startsWith(mark) ? note.slice(mark.length) : null
}

export async function noteUnfinishedRestore(client: ClientBase, note: string): Promise<void> {
  await client.query(`comment on table knex_migrations is ${escapeLiteral(mark + note)}`)
}

/** Removes the note, if there is one: only the owner of the table may write. */
export async function finishRestore(client: ClientBase): Promise<void> {
  if ((await readUnfinishedRestore(client)) !== null) await client.query('comment on table knex_migrations is null')
}
