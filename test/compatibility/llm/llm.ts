import { LLMock } from '@copilotkit/aimock'
import type { Connection } from '../../../cli/connection.ts'
import { sampleOf } from '../catalogue/sample.ts'
import { deployIntegrations } from '../stand-in/deploy-integrations.ts'
import { writeMeasured } from '../write-measured.ts'
import { answers, audioAddress, prepareAnswers, providers, vendorsOf } from './vendors.ts'

type Call = (action: string, input?: object) => Promise<Record<string, unknown>>

/** A call of an integration's action, and the check of its output, which throws an error that says how it differs. */
interface Trial {
  action: string
  run(call: Call, model: { id: string } | undefined): Promise<void>
}

const question = { role: 'user', type: 'text' }

/** The trials of every integration. */
const trials: Trial[] = [
  {
    action: 'generateContent',
    async run(call, model) {
      const messages = [{ ...question, content: answers.text.question }]
      const output = await call('generateContent', { model, systemPrompt: 'Be short.', messages })
      expectSame(choiceOf(output)['content'], answers.text.answer)
      const { inputTokens, outputTokens } = output['usage'] as Record<string, number>
      if (!(inputTokens! > 0 && outputTokens! > 0)) throw new Error('no tokens are counted')
    },
  },
  {
    action: 'generateContent with a tool',
    async run(call, model) {
      const { question: content, name, input } = answers.tool
      const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
      const output = await call('generateContent', {
        model,
        messages: [{ ...question, content }],
        tools: [
          { type: 'function', function: { name, description: 'Returns the weather.', argumentsSchema: parameters } },
        ],
        toolChoice: { type: 'auto' },
      })
      const [given] = (choiceOf(output)['toolCalls'] ?? []) as { function: { name: string; arguments: unknown } }[]
      expectSame([given?.function.name, given?.function.arguments], [name, input])
    },
  },
  {
    action: 'generateContent, refused by the provider',
    async run(call, model) {
      const messages = [{ ...question, content: answers.refusal.question }]
      const failure = await call('generateContent', { model, messages }).then(
        () => undefined,
        (error: Error) => error.message,
      )
      if (!failure?.includes(answers.refusal.message)) throw new Error(`the error is: ${failure}`)
    },
  },
]

const transcription: Trial = {
  action: 'transcribeAudio',
  async run(call) {
    const { segments } = (await call('transcribeAudio', { fileUrl: audioAddress })) as { segments: { text: string }[] }
    expectSame(
      segments.map(({ text }) => text),
      [answers.transcription.text],
    )
  },
}

/** The further actions of integrations, by name. */
const furtherTrials: Record<string, Trial[]> = {
  groq: [transcription],
  'fireworks-ai': [transcription],
  openai: [
    transcription,
    {
      action: 'generateImage',
      async run(call) {
        const { imageUrl } = (await call('generateImage', { prompt: answers.image.prompt })) as { imageUrl: string }
        await expectFile(imageUrl, answers.image.bytes)
      },
    },
    {
      action: 'generateSpeech',
      async run(call) {
        const { audioUrl } = (await call('generateSpeech', { input: answers.speech.input })) as { audioUrl: string }
        await expectFile(audioUrl, answers.speech.bytes)
      },
    },
  ],
}

/**
 * Deploys the integrations of a checkout of the public repository that have the interface `llm`, unmodified, and calls their
 * actions as bots do. The providers are a stand-in on this machine with the wire of each.
 *
 * @param writes whether to write the results into the documentation too
 */
export async function measureLlm(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' })
  const url = await mock.start()
  parts.defer(() => mock.stop())
  prepareAnswers(mock)
  const names = new Set(Object.keys(providers))
  const options = { vendors: vendorsOf(url), parts, otherSecrets: 'key-of-the-stand-in' }
  const { api, standIn, version } = await deployIntegrations(source, names, options)
  const rows: string[] = []
  let [passed, all] = [0, 0]
  for (const name of names) {
    const outcomes = await tryIntegration(api, name, [providers[name]!, new URL(audioAddress).hostname])
    const working = outcomes.filter(([, problem]) => problem === '').map(([action]) => action)
    const failing = outcomes
      .filter(([, problem]) => problem !== '')
      .map(([action, problem]) => `${action}: ${problem.replaceAll(/[|\s]+/g, ' ').slice(0, 200)}`)
    all += outcomes.length
    passed += working.length
    rows.push(`| ${name} | ${working.join(', ')} | ${failing.join('; ')} |`)
    console.log(rows.at(-1))
  }
  for (const request of standIn.unknown) console.log(`The stand-in does not know ${request}`)
  const summary = `${new Date().toISOString().slice(0, 10)}, \`bp\` ${version}: ${passed} of ${all} work.`
  console.log(summary)
  if (passed < all) process.exitCode = 1
  if (writes) {
    const lines = [summary, '', '| Integration | Works | Fails |', '| --- | --- | --- |', ...rows]
    await writeMeasured('models.md', lines, 'measured integrations')
  }
}

/** Installs an integration on a bot of its own and calls its actions. @returns each action, with its problem or none */
async function tryIntegration(api: Connection, name: string, hosts: string[]): Promise<[string, string][]> {
  const { integrations } = await api.ask<'listIntegrations'>('GET', '/v1/admin/integrations', { query: { name } })
  const integrationId = integrations[0]!.id
  const { integration } = await api.ask<'updateIntegration'>('PUT', `/v1/admin/integrations/${integrationId}`, {
    body: { permissions: { net: hosts } },
  })
  const configuration = sampleOf({ type: 'object', ...integration.configuration.schema })
  const { bot } = await api.ask<'createBot'>('POST', '/v1/admin/bots', { body: { name: 'Models' } })
  const outcomes: [string, string][] = []
  const call: Call = async (action, input = {}) => {
    const { url, token, workspaceId } = api.profile
    const response = await fetch(`${url}/v1/chat/actions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspaceId,
        'x-bot-id': bot.id,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ type: `${name}:${action}`, input }),
    })
    const answer = (await response.json()) as { output: Record<string, unknown>; message: string }
    if (!response.ok) throw new Error(answer.message)
    return answer.output
  }
  const note = async (action: string, run: () => Promise<void>) => {
    outcomes.push([
      action,
      await run().then(
        () => '',
        (error: Error) => error.message,
      ),
    ])
  }
  try {
    await api.ask<'updateBot'>('PUT', `/v1/admin/bots/${bot.id}`, {
      body: { integrations: { [name]: { integrationId, enabled: true, configuration } } },
    })
    let model: { id: string } | undefined
    await note('listLanguageModels', async () => {
      const { models } = (await call('listLanguageModels')) as { models: { id: string }[] }
      if (!models[0]) throw new Error('it lists no models')
      model = { id: models[0].id }
    })
    for (const { action, run } of [...trials, ...(furtherTrials[name] ?? [])])
      await note(action, () => run(call, model))
  } finally {
    await api.ask<'deleteBot'>('DELETE', `/v1/admin/bots/${bot.id}`)
  }
  return outcomes
}

function choiceOf(output: Record<string, unknown>): Record<string, unknown> {
  return (output['choices'] as Record<string, unknown>[])[0] ?? {}
}

function expectSame(given: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(given), JSON.stringify(expected)]
  if (one !== other) throw new Error(`${one} instead of ${other}`)
}

async function expectFile(address: string, content: Uint8Array): Promise<void> {
  const response = await fetch(address)
  if (!Buffer.from(await response.arrayBuffer()).equals(content)) throw new Error(`${address} has another content`)
}
