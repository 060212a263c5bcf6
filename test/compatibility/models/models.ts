import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { writeMeasured } from '../write-measured.ts'
import { readStreams, replayStreams } from './llmz.ts'
import { startReplay } from './replay.ts'
import { prepareZai, runZai } from './zai.ts'

/** The aliases by which the recordings choose models. */
const names = ['fast', 'best']

/**
 * Runs the tests and recordings of published packages that ask language models, against a platform of its own whose models
 * answer as recorded.
 *
 * @param source a git directory of the public repository, with its history
 * @param writes whether to write the counts into the documentation too
 */
export async function measureModels(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-models-')), (path) => rm(path, { recursive: true }))
  const zai = await prepareZai(source, folder)
  const streams = await readStreams(source)
  const replay = await startReplay([...zai.recordings, ...streams.map(({ recording }) => recording)], parts)
  const platform = await openOwnPlatform(join(folder, 'data'), parts, {
    MODELS_URL: replay.url,
    MODELS_NAMES: names.join(','),
    MODELS_PROVIDER: 'recorded',
    MODELS_FAST: 'recorded:fast',
    MODELS_BEST: 'recorded:best',
    // It takes pictures at addresses, which an endpoint of the operator's own does not.
    OPENAI_BASE_URL: replay.url,
    OPENAI_API_KEY: 'recorded',
    MODELS_SUBSTITUTE: 'openai:gpt-4o-mini-2024-07-18',
    LOG_LEVEL: 'error',
  })
  const day = new Date().toISOString().slice(0, 10)
  const lines = [
    `${day}:`,
    '',
    ...(await replayStreams(streams, platform)),
    ...(await runZai(zai, platform, replay.counts)),
  ]
  console.log(lines.join('\n'))
  if (writes) await writeMeasured('models.md', lines, 'measured packages')
}
