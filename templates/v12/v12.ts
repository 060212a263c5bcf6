import { toMessage } from './content.ts'
import { createMatcher, type Intent } from './matcher.ts'

/** The surroundings of scripts of v12: an event in its form, and the members of `bp` that this platform can offer. */

// Scripts of v12 are JavaScript without types.
// oxlint-disable typescript/no-explicit-any
type Data = Record<string, any>

/** The arguments of hooks and actions. */
interface Context {
  event: Data
  client: Data
  state: Data
  logger: Data
  env: Data
  input?: Data
}

type Script = (names: Data) => Promise<unknown>

export interface Setup {
  intents: Intent[]
  content: Record<string, { type: string; fields: Data }>
  language: string
}

const skipDialogEngine = 'SKIP_DIALOG_ENGINE'
const flagNames = {
  SKIP_DIALOG_ENGINE: skipDialogEngine,
  SKIP_QNA_PROCESSING: 'SKIP_QNA_PROCESSING',
  FORCE_PERSIST_STATE: 'FORCE_PERSIST_STATE',
  SKIP_NATIVE_NLU: 'SKIP_NATIVE_NLU',
}

export function createSurroundings({ intents, content, language }: Setup) {
  const match = createMatcher(intents)

  /** Adds to the event the fields by which conditions of v12 recognise messages. */
  function prepare({ event }: Context): void {
    const { payload } = event
    const isConverse = event.tags?.conversation?.fid?.startsWith('converse:')
    event.channel = isConverse ? 'api' : event.integration === 'chat' ? 'web' : event.integration
    event.target = event.userId
    event.threadId = event.conversationId
    if (payload.value !== undefined && payload.payload === undefined) payload.payload = payload.value
    event.nlu = { intents: [], entities: [], slots: {}, ambiguous: false, language, ...match(event.preview ?? '') }
  }

  /** The event as scripts of v12 see it. */
  function eventOf({ event }: Context, parts: Data): Data {
    const flags = new Set<string>()
    return {
      ...event,
      type: event.payload?.type ?? event.type,
      channel: event.channel ?? 'web',
      target: event.userId,
      threadId: event.conversationId,
      nlu: event.nlu ?? {
        intent: { name: 'none', confidence: 1, context: 'global' },
        intents: [],
        entities: [],
        slots: {},
      },
      suggestions: [],
      state: { ...event.state, context: { ...event.state.context }, __stacktrace: [], ...parts },
      flags,
      hasFlag: (flag: string) => flags.has(flag),
      setFlag: (flag: string, value = true) => (value ? flags.add(flag) : flags.delete(flag)),
    }
  }

  /** Makes an action of a script. It gets variables as input, and returns those that it leaves. */
  function action(script: Script) {
    return async (context: Context) => {
      const { args = {}, ...given } = context.input ?? {}
      const parts: Data = { temp: {}, session: {}, user: {}, bot: {}, workflow: {}, ...given }
      const event = eventOf(context, parts)
      const result: { jump?: string } = {}
      const bp = createBp(context, event, result)
      await script({ bp, event, args, process: { env: context.env }, ...parts })
      // A script may assign a part anew.
      const { temp, session, user, bot, workflow } = event.state
      return { temp, session, user, bot, workflow, ...result }
    }
  }

  /** Runs scripts of hooks. One that throws is logged and ignored, as in v12. */
  async function runHooks(context: Context, scripts: Script[]): Promise<{ stop: true } | undefined> {
    for (const script of scripts) {
      const { user, session, bot, temp } = context.state
      const event = eventOf(context, { user, session, bot, temp })
      try {
        await script({ bp: createBp(context, event, {}), event, process: { env: context.env } })
      } catch (error) {
        context.logger.error('A hook of v12 failed:', error)
        continue
      }
      for (const part of ['user', 'session', 'bot']) context.event.state[part] = event.state[part]
      context.event.payload = event.payload
      context.event.preview = event.preview
      context.event.nlu = event.nlu
      if (event.hasFlag(skipDialogEngine)) return { stop: true }
    }
    return undefined
  }

  function createBp({ client, logger, env }: Context, event: Data, result: { jump?: string }): Data {
    const reply = async (_event: Data, payloads: Data | Data[]) => {
      for (const payload of [payloads].flat()) {
        const { type = 'text', ...fields } = toSent(payload)
        if (type !== 'typing')
          await client.createMessage({ conversationId: event.conversationId, type, payload: fields })
      }
    }
    const render = (id: string, args: Data = {}) => {
      const element = content[id.replace(/^#?!?/, '')]
      const { type, fields } = element ?? { type: id.replace(/^#!?/, ''), fields: args }
      const scope = { ...args, event, ...event.state }
      return [{ v12: type, ...(renderAll(inLanguage(fields, event.state.user?.language ?? language), scope) as Data) }]
    }
    const logging: Data = { ...logger, forBot: () => logging, attachError: () => logging, level: () => logging }
    for (const level of ['debug', 'info', 'warn', 'error'])
      logging[level] = (...words: unknown[]) => logger[level](...words)
    return {
      IO: { WellKnownFlags: flagNames },
      logger: logging,
      events: {
        replyToEvent: reply,
        replyContentToEvent: (_event: Data, id: string) => reply(event, render(id)),
      },
      cms: {
        renderElement: async (id: string, args?: Data) => render(id, args),
        renderTemplate: (item: unknown, scope: Data) => renderAll(item, scope),
      },
      kvs: createStore(event),
      config: {
        getModuleConfig: async (name: string) =>
          JSON.parse(env[`SECRET_CONFIG_${name.toUpperCase().replaceAll(/\W/g, '_')}`] ?? '{}'),
      },
      dialog: {
        createId: () => event.conversationId,
        jumpTo: async (_session: string, _event: Data, flow: string) => {
          result.jump = flow.endsWith('.flow.json') ? flow : `${flow}.flow.json`
        },
      },
    }
  }

  return { prepare, action, runHooks }
}

/** A message of v12 as one of this platform. */
function toSent(payload: Data): Data {
  const { v12, ...fields } = payload
  const type = String(v12 ?? fields['type'] ?? 'text')
  const message = toMessage(type === 'quick_replies' ? 'single-choice' : type, fields)
  if (message !== undefined) return message
  throw new Error(`A message of the type '${type}' cannot be sent`)
}

/** Keys and values in the state of the bot. */
function createStore(event: Data): Data {
  const all = (): Data => (event.state.bot.kvs ??= {})
  const store: Data = {
    get: async (key: string) => all()[key]?.value,
    set: async (key: string, value: unknown) => void (all()[key] = { value }),
    delete: async (key: string) => void delete all()[key],
    exists: async (key: string) => Object.hasOwn(all(), key),
    getStorageWithExpiry: async (key: string) => {
      const found = all()[key]
      return found?.until !== undefined && found.until < Date.now() ? undefined : found?.value
    },
    setStorageWithExpiry: async (key: string, value: unknown, expiry?: string) => {
      const until = millisecondsOf(expiry)
      all()[key] = { value, ...(until !== undefined && { until: Date.now() + until }) }
    },
    getGlobalStorageKey: (name: string) => `global/${name}`,
    getConversationStorageKey: (id: string, name: string) => `conversation/${id}/${name}`,
    getUserStorageKey: (id: string, name: string) => `user/${id}/${name}`,
    removeStorageKeysStartingWith: async (prefix: string) => {
      for (const key of Object.keys(all())) if (key.startsWith(prefix)) delete all()[key]
    },
  }
  store['forBot'] = () => store
  store['global'] = () => store
  return store
}

function millisecondsOf(expiry: string | undefined): number | undefined {
  const [, count, unit] = /^(\d+)\s*(s|m|h|d|w)/.exec(expiry ?? '') ?? []
  const one = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[unit ?? '']
  return count === undefined || one === undefined ? undefined : Number(count) * one
}

function inLanguage(fields: Data, language: string): Data {
  const own = Object.entries(fields).map(([name, value]) => [name.replace(`$${language}`, ''), value])
  return Object.fromEntries(own.filter(([name]) => !String(name).includes('$')))
}

/** Fills in the paths of templates, at any depth. */
function renderAll(item: unknown, scope: Data): unknown {
  if (typeof item === 'string')
    return item.replaceAll(/\{\{\{?([^{}]*)\}?\}\}/g, (_all, path: string) => readPath(path, scope))
  if (Array.isArray(item)) return item.map((each) => renderAll(each, scope))
  if (typeof item !== 'object' || item === null) return item
  return Object.fromEntries(Object.entries(item).map(([name, each]) => [name, renderAll(each, scope)]))
}

function readPath(path: string, scope: Data): string {
  let found: any = scope
  for (const name of path.trim().split('.')) {
    found = typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found === undefined || found === null ? '' : typeof found === 'object' ? JSON.stringify(found) : String(found)
}
