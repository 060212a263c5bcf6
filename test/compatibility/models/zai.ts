import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { OwnPlatform } from '../../support/own-platform.ts'
import { runVitest, type SuiteResults } from '../run-vitest.ts'
import type { Recording, ReplayCounts } from './replay.ts'

const run = promisify(execFile)

/** The commit of the published version, whose tests belong to the recordings in its package. */
const commit = 'c3d6e6c096'
/** The versions that belong to it. */
const dependencies = {
  '@botpress/zai': '2.6.21',
  '@botpress/client': '1.45.0',
  '@bpinternal/thicktoken': '1.2.1',
  '@bpinternal/zui': '2.1.1',
  axios: '^1.7.0',
  diff: '^8.0.1',
  jsonrepair: '^3.10.0',
  lodash: '^4.17.21',
  vitest: '^2.1.4',
}
const suiteMilliseconds = 600_000

/** The published package in a project of its own. */
interface ZaiProject {
  folder: string
  /** The package's sources with its tests. */
  root: string
  recordings: Recording[]
}

/**
 * Installs `@botpress/zai`, and adds the tests of its commit to its sources.
 *
 * @param source a git directory of the public repository, with its history
 * @param folder for the project
 */
export async function prepareZai(source: string, folder: string): Promise<ZaiProject> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--legacy-peer-deps']
  await run('npm', ['install', ...options], { cwd: folder })
  const paths = ['packages/zai/e2e', 'packages/vai/src']
  const listed = await run('git', ['-C', source, 'ls-tree', '-r', '--name-only', commit, ...paths])
  for (const path of listed.stdout.split('\n').filter((name) => name.endsWith('.ts'))) {
    const { stdout } = await run('git', ['-C', source, 'show', `${commit}:${path}`])
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), stdout)
  }
  const root = join(folder, 'packages', 'zai')
  const published = join(folder, 'node_modules', '@botpress', 'zai')
  await cp(join(published, 'src'), join(root, 'src'), { recursive: true })
  await cp(join(published, 'e2e', 'data'), join(root, 'e2e', 'data'), { recursive: true })
  const vai = JSON.stringify(join(folder, 'packages', 'vai', 'src', 'index.ts'))
  // Those of the package answer from the recordings themselves, and install an integration.
  await writeFile(
    join(root, 'setup.mjs'),
    `import { setupClient } from '@botpress/vai'
import { Client } from '@botpress/client'
const { CLOUD_API_ENDPOINT: apiUrl, CLOUD_PAT: token, CLOUD_BOT_ID: botId } = process.env
globalThis.STUDIO = false
setupClient(new Client({ apiUrl, token, botId }))
`,
  )
  await writeFile(
    join(root, 'platform.config.mjs'),
    `export default {
  resolve: { alias: { '@botpress/vai': ${vai} } },
  test: { fileParallelism: false, testTimeout: 60_000, include: ['e2e/**/*.test.ts'], setupFiles: 'setup.mjs' },
}
`,
  )
  const lines = await readFile(join(root, 'e2e', 'data', 'cache.jsonl'), 'utf8')
  return { folder, root, recordings: lines.split('\n').flatMap(readRecording) }
}

/**
 * Runs the tests of `@botpress/zai`, unmodified, against a platform whose models answer as recorded. Tables are those of
 * the platform.
 *
 * @returns lines of Markdown
 */
export async function runZai(project: ZaiProject, platform: OwnPlatform, counts: ReplayCounts): Promise<string[]> {
  const { folder, root } = project
  const results = await runVitest(folder, {
    root,
    configuration: join(root, 'platform.config.mjs'),
    environment: { CLOUD_API_ENDPOINT: platform.url, CLOUD_PAT: platform.token, CLOUD_BOT_ID: platform.botId },
    milliseconds: suiteMilliseconds,
  })
  return report(results, counts)
}

interface Message {
  content: string | null
}

/** The request of a recording, as far as it is read. */
interface RecordedRequest {
  url: string
  body: {
    model?: string
    messages: Message[]
    reasoningEffort?: string
    maxTokens?: number | null
    temperature?: number
    /** Of an action of an integration. */
    input?: { model: { id: string }; systemPrompt?: string; messages: Message[]; temperature?: number }
  }
}

interface RecordedAnswer {
  output: string | { choices?: { content: string; stopReason: string }[]; usage: Recording['usage'] }
  metadata?: { stopReason?: string; usage: Recording['usage'] }
}

/** Reads one line of the recordings, if it is a question to models, by either path of the client. */
function readRecording(line: string): Recording[] {
  if (line === '') return []
  const { input, value } = JSON.parse(line) as { input: string; value: RecordedAnswer }
  const { url, body } = JSON.parse(input) as RecordedRequest
  const { output, metadata } = value
  if (url.endsWith('/generate-text') && typeof output === 'string' && metadata) {
    const { model = 'auto', messages, reasoningEffort: effort, maxTokens, temperature } = body
    return [
      {
        texts: messages.map(({ content }) => content ?? ''),
        traits: { model: model.replace(/^.*:/, ''), effort, maxTokens: maxTokens ?? undefined, temperature },
        // A failure of the service was recorded as an answer without a text.
        pieces: [output],
        stopReason: metadata.stopReason,
        usage: metadata.usage,
      },
    ]
  }
  if (url.endsWith('/chat/actions') && typeof output === 'object' && body.input && output.choices) {
    const { model, systemPrompt = '', messages, temperature } = body.input
    const [choice] = output.choices
    return [
      {
        texts: [systemPrompt, ...messages.map(({ content }) => content ?? '')],
        traits: { model: model.id, temperature },
        pieces: [choice?.content ?? ''],
        stopReason: choice?.stopReason,
        usage: output.usage,
      },
    ]
  }
  return []
}

function report({ testResults }: SuiteResults, { replayed, unknown }: ReplayCounts): string[] {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const passed = tests.filter(({ status }) => status === 'passed')
  const failed = tests.filter(({ status }) => status === 'failed')
  if (failed.length > 0) process.exitCode = 1
  return [
    `- The tests of \`@botpress/zai\` 2.6.21: ${passed.length} of ${tests.length} pass, ${failed.length} fail, and ` +
      `${tests.length - passed.length - failed.length} are skipped by their author. Models answered ${replayed} ` +
      `questions as recorded, and ${unknown} had no recording.`,
    ...failed.map(
      ({ fullName, failureMessages }) => `  - ${fullName}: ${(failureMessages[0] ?? '').split('\n', 1)[0]}`,
    ),
  ]
}
