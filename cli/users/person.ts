import type { Connection } from '../connection.ts'
import { misused } from '../failure.ts'
import { botIdOf } from '../find-bot.ts'

/** The options that name a person. */
export interface Person {
  bot?: string
  user?: string
  externalId?: string
  tag?: { key: string; value: string }
  email?: string[]
  phone?: string[]
  text?: string[]
}

/** The body of a request about a person. @throws Failure when the options name nobody */
export async function toPersonBody(
  connection: Connection,
  { bot, user, externalId, tag, email, phone, text }: Person,
): Promise<Record<string, unknown>> {
  if ([user, externalId, tag, email, phone, text].every((value) => value === undefined)) {
    throw misused('Name the person by --user, --external-id, --tag, --email, --phone or --text')
  }
  if (externalId !== undefined && bot === undefined) throw misused('--external-id needs --bot')
  return {
    ...(bot !== undefined && { botId: await botIdOf(connection, bot) }),
    ...(user !== undefined && { userId: user }),
    ...(externalId !== undefined && { externalId }),
    ...(tag && { tag }),
    ...(email && { emails: email }),
    ...(phone && { phones: phone }),
    ...(text && { texts: text }),
  }
}
