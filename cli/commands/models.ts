import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { hostedProviders } from '#shared/config/models-settings.ts'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { ModelBudget } from '#shared/models/model-budget.ts'
import { askSecretly } from '../confirm.ts'
import type { Connection } from '../connection.ts'
import { misused } from '../failure.ts'
import { table } from '../output.ts'
import { toolsOf } from '../tools.ts'

export function addModelsCommand(program: Command): void {
  const models = program
    .command('models')
    .summary('list language models, show what bots use of them, and set budgets')
    .description('The language models of the platform, their usage and its budgets.')
    .addHelpText('after', '\nExample:\n  $ isobot models usage --bot greeter\n')
  addList(models)
  addUsage(models)
  addFailures(models)
  addBudget(models)
  addKeys(models)
}

const botOption = ['--bot <bot>', 'of one bot, by its id or name; otherwise of the workspace'] as const

function addList(models: Command): void {
  models
    .command('list')
    .argument('<bot>', 'the bot’s id or name')
    .description('Lists the language models that a bot may use, with their aliases and prices for a million tokens.')
    .addHelpText('after', '\nExample:\n  $ isobot models list greeter\n')
    .action(async (idOrName: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { findBot } = await import('../find-bot.ts')
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const found = await connection.ask<'listModels'>('GET', '/v2/cognitive/models', { botId })
      output.result(found, () => {
        if (found.models.length === 0) return 'The platform has no provider of language models'
        const rows = found.models.map(({ id, aliases, input, output: answers }) => [
          id,
          aliases.join(', '),
          ...[input, answers].map(({ costPer1MTokens: price }) => (price === 0 ? '' : `$${price}`)),
        ])
        return table(['MODEL', 'ALIASES', 'QUESTIONS', 'ANSWERS'], rows)
      })
    })
}

function addUsage(models: Command): void {
  models
    .command('usage')
    .description('Lists what bots used of language models, by day in UTC, bot and model. Costs are estimates.')
    .option(...botOption)
    .option('--from <day>', 'the first day; 30 days before the last unless given')
    .option('--to <day>', 'the last day; today unless given')
    .addHelpText('after', '\nExample:\n  $ isobot models usage --from 2026-11-01 --to 2026-11-30\n')
    .action(async ({ bot, ...days }: { bot?: string; from?: string; to?: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const query = { ...days, ...(await botIdOf(connection, bot)) }
      const found = await connection.ask<'getModelUsage'>('GET', '/v1/admin/models/usage', { query })
      output.result(found, () => {
        if (found.usage.length === 0) return 'No language model was used'
        const rows = found.usage.map(({ day, botId, model, calls, inputTokens, outputTokens, cost }) => {
          return [day, botId, model, String(calls), String(inputTokens), String(outputTokens), `$${cost.toFixed(4)}`]
        })
        return table(['DAY', 'BOT', 'MODEL', 'CALLS', 'INPUT', 'OUTPUT', 'COST'], rows)
      })
    })
}

function addFailures(models: Command): void {
  models
    .command('failures')
    .description(
      'Lists the failures of language models by day in UTC, bot, model and cause, also where another one answered.',
    )
    .option(...botOption)
    .option('--from <day>', 'the first day; 30 days before the last unless given')
    .option('--to <day>', 'the last day; today unless given')
    .addHelpText('after', '\nExample:\n  $ isobot models failures --bot greeter\n')
    .action(async ({ bot, ...days }: { bot?: string; from?: string; to?: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const query = { ...days, ...(await botIdOf(connection, bot)) }
      const { failures } = await connection.ask<'getModelUsage'>('GET', '/v1/admin/models/usage', { query })
      output.result({ failures }, () => {
        if (failures.length === 0) return 'No language model failed'
        const rows = failures.map(({ day, botId, model, kind, status, failures: count }) => {
          return [day, botId, model, kind, String(status ?? ''), String(count)]
        })
        return table(['DAY', 'BOT', 'MODEL', 'CAUSE', 'STATUS', 'FAILURES'], rows)
      })
    })
}

/** The options that set a bound of the budget. */
const bounds = {
  dayTokens: ['--day-tokens <number>', 'tokens of a day; none removes the bound'],
  monthTokens: ['--month-tokens <number>', 'tokens of a month; none removes the bound'],
  dayDollars: ['--day-dollars <number>', 'US dollars of a day; none removes the bound'],
  monthDollars: ['--month-dollars <number>', 'US dollars of a month; none removes the bound'],
} as const
type Bound = keyof typeof bounds
const boundNames = Object.keys(bounds) as Bound[]

function addBudget(models: Command): void {
  const budget = models
    .command('budget')
    .description('Shows a budget of language models and what is spent of it; with options, changes it.')
    .option(...botOption)
  for (const [flags, description] of Object.values(bounds)) budget.option(flags, description)
  budget
    .addHelpText('after', '\nExample:\n  $ isobot models budget --bot greeter --day-tokens 100000 --month-dollars 20\n')
    .action(async ({ bot, ...given }: { bot?: string } & Partial<Record<Bound, string>>, command: Command) => {
      const { output, connect } = toolsOf(command)
      const changes = boundNames.flatMap((name) => {
        const text = given[name]
        return text === undefined ? [] : [[name, readBound(name, text)] as const]
      })
      const connection = await connect()
      const owner = await botIdOf(connection, bot)
      let state = await connection.ask<'getModelBudget'>('GET', '/v1/admin/models/budget', { query: owner })
      if (changes.length > 0) {
        const body = { ...owner, budget: merge(state.budget, changes) }
        state = await connection.ask<'setModelBudget'>('PUT', '/v1/admin/models/budget', { body })
      }
      output.result(state, () => formatBudget(state))
    })
}

function merge(budget: ModelBudget, changes: (readonly [Bound, number | undefined])[]): ModelBudget {
  const merged = { ...budget, ...Object.fromEntries(changes) }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined))
}

/** @throws Failure when the text is neither a number nor `none` */
function readBound(name: Bound, text: string): number | undefined {
  if (text === 'none') return undefined
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value
  throw misused(`${bounds[name][0].split(' ', 1)[0]} ${text}: give a number from 0, or none`)
}

function formatBudget({ budget, spent }: AnswerOf<'getModelBudget'>): string {
  return table(
    ['PERIOD', 'TOKENS', 'OF', 'COST', 'OF'],
    (['day', 'month'] as const).map((period) => [
      period,
      String(spent[period].tokens),
      shown(budget[`${period}Tokens`]),
      `$${spent[period].cost.toFixed(4)}`,
      shown(budget[`${period}Dollars`], '$'),
    ]),
  )
}

function shown(limit: number | undefined, sign = ''): string {
  return limit === undefined ? 'no bound' : `${sign}${limit}`
}

async function botIdOf(connection: Connection, idOrName: string | undefined): Promise<{ botId?: string }> {
  if (idOrName === undefined) return {}
  const { findBot } = await import('../find-bot.ts')
  return { botId: (await findBot(connection, idOrName)).id }
}

function addKeys(models: Command): void {
  const keys = models
    .command('keys')
    .description(
      "Lists the providers of language models of which the workspace has keys of its own, in place of the operator's.",
    )
    .addHelpText('after', '\nExample:\n  $ isobot models keys set openai < key.txt\n')
    .action(async (_options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const found = await (await connect()).ask<'listModelKeys'>('GET', '/v1/admin/models/keys')
      output.result(found, () => {
        if (found.keys.length === 0) return 'The workspace has no keys of its own'
        return table(
          ['PROVIDER', 'SET AT', 'BY'],
          found.keys.map(({ provider, setAt, setBy }) => [provider, setAt, setBy ?? '']),
        )
      })
    })
  keys
    .command('set')
    .argument('<provider>', hostedProviders.join(', '))
    .description('Sets a key, read from standard input or, at a terminal, asked for without echo.')
    .addHelpText('after', '\nExample:\n  $ isobot models keys set openai < key.txt\n')
    .action(async (provider: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const key = process.stdin.isTTY ? await askSecretly(`The key of ${provider}: `) : await text(process.stdin)
      const path = `/v1/admin/models/keys/${encodeURIComponent(provider)}`
      const result = await connection.ask<'setModelKey'>('PUT', path, { body: { key: key.trim() } })
      output.result(result, () => `The workspace calls ${provider} with its own key`)
    })
  keys
    .command('delete')
    .argument('<provider>', hostedProviders.join(', '))
    .description("Deletes a key; the workspace's bots use the operator's again.")
    .addHelpText('after', '\nExample:\n  $ isobot models keys delete openai\n')
    .action(async (provider: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const path = `/v1/admin/models/keys/${encodeURIComponent(provider)}`
      const result = await (await connect()).ask<'deleteModelKey'>('DELETE', path)
      output.result(result, () => `The workspace has no key of ${provider} any more`)
    })
}
