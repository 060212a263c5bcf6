import { limits } from '#shared/config/code-limits.ts'
import { permissions } from '#shared/models/bot-code.ts'
import { recurringEvents } from '#shared/models/bot-definition.ts'
import { anyObject } from '#shared/models/definition.ts'
import { retention } from '#shared/models/retention.ts'
import { closedObject, compile, describeErrors, type Infer } from '#shared/schema.ts'
import { didYouMean } from '#shared/did-you-mean.ts'
import { failed } from '../failure.ts'
import { parseJson } from '../parse-json.ts'

const hosts = permissions.properties.net

/** An installation as a project declares it. */
const declaredIntegration = closedObject(
  {
    integration: {
      type: 'string',
      minLength: 1,
      description:
        'A name for the newest version, name@version, name@range, or an id; or the folder of an integration of the ' +
        'project, ./integrations/crm.',
    },
  },
  {
    enabled: { type: 'boolean' },
    configurationType: { type: 'string', nullable: true },
    configuration: {
      ...anyObject,
      description: 'A value { "env": "NAME" } is replaced by that environment variable of `isobot deploy`.',
    },
    hosts: { ...hosts, description: 'Hosts that the integration is granted, on all bots of the workspace.' },
  },
)

/** The declarations of a project about its bot, beside code and flows. A deployment applies them. */
const declarations = {
  permissions,
  limits,
  retention,
  recurringEvents,
  integrations: { type: 'object', additionalProperties: declaredIntegration, description: 'By alias.' },
  secrets: {
    type: 'array',
    items: { type: 'string', pattern: '^(SECRET_)?[A-Za-z_][A-Za-z0-9_]{0,191}$' },
    description: 'The names of the secrets that the code reads; `isobot secrets set` gives them values.',
  },
  subscriptions: closedObject(
    {},
    {
      events: {
        type: 'array',
        nullable: true,
        items: { type: 'string', minLength: 1, maxLength: 200 },
        description: 'The types of the events that the bot receives; null for all.',
      },
    },
  ),
  bots: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The bot’s id on each platform that it was deployed to, by the platform’s address.',
  },
} as const

const botName = { type: 'string', minLength: 1, maxLength: 200 } as const

/** The differences of a deployment with `--env`. */
const environment = closedObject(
  {},
  {
    ...declarations,
    name: botName,
    profile: {
      type: 'string',
      description: 'The platform, from `isobot profiles list`. Default: the name of the environment.',
    },
  },
)

/** The content of `isobot.json`. */
const projectSettings = closedObject(
  { name: { ...botName, description: 'The bot’s name when it is created.' } },
  {
    ...declarations,
    $schema: { type: 'string' },
    entry: { type: 'string', description: 'The module with hooks and actions. Default: src/index.ts.' },
    packages: {
      enum: ['browser', 'node'],
      description:
        'The form in which packages are bundled that have one for browsers and one for Node. Default: browser, which is ' +
        'smaller and loads faster.',
    },
    environments: { type: 'object', additionalProperties: environment },
  },
)

export type ProjectSettings = Infer<typeof projectSettings>
export type Declarations = Pick<
  ProjectSettings,
  'permissions' | 'limits' | 'retention' | 'recurringEvents' | 'integrations' | 'secrets' | 'subscriptions'
>
export type DeclaredIntegration = Infer<typeof declaredIntegration>

const isSettings = compile(projectSettings, 'closedBody')

/** Reads the text of `isobot.json`. @throws Failure that names the file and the faulty field */
export function readSettings(file: string, text: string): ProjectSettings {
  let settings: unknown
  try {
    settings = parseJson(text)
  } catch (cause) {
    throw failed(`${file} is not valid JSON (${(cause as Error).message}): correct it`, { cause })
  }
  if (isSettings(settings)) return settings
  throw failed(`${file}: ${describeErrors(isSettings)}`)
}

/**
 * The settings of a deployment to an environment: its own fields, and for maps its own entries, precede those of the
 * project.
 *
 * @throws Failure when the project does not declare the environment
 */
export function settingsFor(settings: ProjectSettings, name: string): ProjectSettings & { profile: string } {
  const { environments = {}, ...common } = settings
  const own = Object.hasOwn(environments, name) ? environments[name] : undefined
  if (!own) {
    const names = Object.keys(environments)
    const near = didYouMean(name, names)
    throw failed(
      `isobot.json has no environment "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}: ` +
        (names.length > 0 ? `it has ${names.join(', ')}` : `add "environments": { "${name}": {} }`),
    )
  }
  const { profile = name, bots = {}, ...others } = own
  return {
    ...common,
    ...others,
    ...(common.integrations && { integrations: { ...common.integrations, ...others.integrations } }),
    ...(common.recurringEvents && { recurringEvents: { ...common.recurringEvents, ...others.recurringEvents } }),
    bots,
    profile,
  }
}
