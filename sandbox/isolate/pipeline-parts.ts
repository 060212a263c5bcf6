import type { BotExports } from './bot-module.ts'
import type { Client } from './client.ts'
import type { Flows } from './flows/definition.ts'
import type { Logger } from './log.ts'
import type { KernelRun } from './run.ts'

/** A run, with what its functions and flows work with. */
export interface Pipeline {
  run: KernelRun
  bot: BotExports
  /** The bot's flows; undefined when it has none. */
  flows: Flows | undefined
  client: Client
  logger: Logger
  /** Makes the client of a card: its calls are numbered apart from others. */
  clientOf(scope: string): Client
  setTimeout: Function
}
