import type { Bot } from '#shared/models/bot.ts'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from './connection.ts'
import { failed, Failure, misused } from './failure.ts'
import { didYouMean } from '#shared/did-you-mean.ts'

export type BotSummary = AnswerOf<'listBots'>['bots'][number]

/** All bots of the workspace, newest first: those in production, and then those under development. */
export async function listAllBots({ list }: Connection): Promise<BotSummary[]> {
  const [production, development] = await Promise.all(
    [false, true].map((dev) => Array.fromAsync(list<BotSummary>('/v1/admin/bots', 'bots', { query: { dev } }))),
  )
  return [...production!, ...development!]
}

/**
 * Finds a bot by its id or name.
 * @throws Failure when no bot or more than one bot has that name
 */
export async function findBot(connection: Connection, idOrName: string): Promise<Bot> {
  const byId = await getBot(connection, idOrName)
  if (byId) return byId
  const all = await listAllBots(connection)
  const named = all.filter((bot) => bot.name === idOrName)
  if (named.length > 1) {
    const ids = named.map(({ id, createdAt }) => `  ${id}  created ${createdAt}`).join('\n')
    throw misused(`${named.length} bots have the name "${idOrName}": name one by its id\n${ids}`)
  }
  const [only] = named
  const found = only && (await getBot(connection, only.id))
  if (found) return found
  const near = didYouMean(
    idOrName,
    all.map((bot) => bot.name),
  )
  throw failed(
    `The workspace has no bot "${idOrName}"${near === undefined ? '.' : `; did you mean "${near}"?`} ` +
      '`isobot bots list` shows its bots',
    { type: 'ResourceNotFound' },
  )
}

/** The id of a bot that is named by its id or name. An id is not looked up: agents may not read bots. */
export async function botIdOf(connection: Connection, idOrName: string): Promise<string> {
  return isBotId(idOrName) ? idOrName : (await findBot(connection, idOrName)).id
}

function isBotId(text: string): boolean {
  return /^bot_\w+$/.test(text)
}

/** The bot with an id; undefined when there is none. */
export async function getBot({ ask }: Connection, id: string): Promise<Bot | undefined> {
  if (!isBotId(id)) return undefined
  try {
    return (await ask<'getBot'>('GET', `/v1/admin/bots/${id}`)).bot
  } catch (error) {
    if (error instanceof Failure && error.type === 'ResourceNotFound') return undefined
    throw error
  }
}
