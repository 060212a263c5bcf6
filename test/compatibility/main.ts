import { parseArgs } from 'node:util'
import { measureAgents } from './agents/agents.ts'
import { measureChannels } from './channels/channels.ts'
import { measureChat } from './chat/chat.ts'
import { measureBp } from './cli/bp.ts'
import { measureCatalogue, type CatalogueOptions } from './catalogue/catalogue.ts'
import { kinds } from './catalogue/prepare-projects.ts'
import { measureHitl } from './hitl/hitl.ts'
import { measureLlm } from './llm/llm.ts'
import { measureModels } from './models/models.ts'
import { measureNode } from './node/node.ts'
import { measurePlugins } from './plugins/plugins.ts'
import { measureThirdParty } from './third-party/third-party.ts'
import { measureV12 } from './v12.ts'
import { measureWeb } from './web/web.ts'
import { measureWizards } from './wizards/wizards.ts'

interface Subject {
  measure(source: string, options: CatalogueOptions): Promise<void>
  /** Needed by all that do not install published packages alone. */
  source?: string
}

/**
 * Measures how much of what other platforms have works here: bots of v12, the commands of the public command line, the tests
 * of the public chat client, conversations by way of the messaging integrations, the tests and recordings of the packages
 * that ask language models, the plugin that hands conversations over, other plugins, the install wizards of integrations, the integrations
 * of language models, an agent of the published runtime, projects of third parties, Node's own tests of its modules, web-platform tests, or, without a subject, the public catalogue
 * of integrations, plugins and bots. `--write` also writes the figures into the documentation.
 */
const subjects: Record<string, Subject> = {
  agents: { measure: (_source, { writes }) => measureAgents(writes) },
  v12: { measure: (source, { writes }) => measureV12(source, writes), source: 'folder with exports' },
  bp: { measure: (source, { writes }) => measureBp(source, writes), source: 'checkout of the public repository' },
  channels: {
    measure: (source, { writes }) => measureChannels(source, writes),
    source: 'checkout of the public repository',
  },
  chat: { measure: (source, { writes }) => measureChat(source, writes), source: 'checkout of the public repository' },
  hitl: { measure: (source, { writes }) => measureHitl(source, writes), source: 'checkout of the public repository' },
  plugins: {
    measure: (source, { writes }) => measurePlugins(source, writes),
    source: 'checkout of the public repository',
  },
  wizards: {
    measure: (source, { writes }) => measureWizards(source, writes),
    source: 'checkout of the public repository',
  },
  llm: { measure: (source, { writes }) => measureLlm(source, writes), source: 'checkout of the public repository' },
  models: {
    measure: (source, { writes }) => measureModels(source, writes),
    source: 'git directory of the public repository',
  },
  node: {
    measure: (source, { writes }) => measureNode(source, writes),
    source: "checkout of Node, or folder with its 'test/parallel' and 'test/fixtures/keys'",
  },
  web: {
    measure: (source, { writes }) => measureWeb(source, writes),
    source: "checkout of the web-platform tests, or a selection such as Node's 'test/fixtures/wpt'",
  },
  'third-party': {
    measure: (source, { writes }) => measureThirdParty(source, writes),
    source: 'folder with checkouts, each named owner+name',
  },
  catalogue: { measure: measureCatalogue, source: 'checkout of the public repository' },
}

const usage = [
  'npm run compatibility -- [catalogue] --source <checkout of the public repository> [--only <kind>,…] [--write]',
  ...['v12', 'bp', 'channels', 'chat', 'hitl', 'plugins', 'wizards', 'llm', 'models', 'node', 'web', 'third-party'].map(
    (name) => `npm run compatibility -- ${name} --source <${subjects[name]!.source}> [--write]`,
  ),
  'npm run compatibility -- agents [--write]',
]

/** The arguments; undefined where they are not understood. */
function readArguments(): { subject: string; source: string; options: CatalogueOptions } | undefined {
  const { values, positionals } = parseArgs({
    options: { source: { type: 'string' }, only: { type: 'string' }, write: { type: 'boolean', default: false } },
    allowPositionals: true,
    strict: false,
  })
  const [subject = 'catalogue', ...others] = positionals
  const { source = '', write } = values
  const given = typeof values.only === 'string' ? values.only.split(',') : []
  const only = kinds.filter((kind) => given.includes(kind))
  const isUnderstood = others.length === 0 && only.length === given.length && Object.hasOwn(subjects, subject)
  return isUnderstood && typeof source === 'string' && (source !== '') === (subjects[subject]!.source !== undefined)
    ? { subject, source, options: { writes: write === true, only } }
    : undefined
}

const given = readArguments()
if (!given) {
  console.error(usage.join('\n'))
  process.exitCode = 2
} else await subjects[given.subject]!.measure(given.source, given.options)
