import { spawn, type ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '#shared/telemetry/logger.ts'
import { currentOutput, isBuilt, root } from './output.ts'

export type Built = { state: 'built'; directory: string } | { state: 'building' } | { state: 'failed' }

export interface BackgroundBuild {
  /** Where the pages are. Begins to build them where they are not, and says so at once. */
  find(): Promise<Built>
  /** Ends a build that is under way. */
  close(): void
}

/** After a failure nobody tries again for so long: it costs seconds of a processor, and anybody may ask. */
const failurePauseMilliseconds = 60_000

/** To know which pages belong to the sources all of them are read, and anybody may ask: once for all in this time. */
const lookMilliseconds = 1000

/** Serving goes before building. */
const lowPriority = 10

/** Builds the pages by a process of its own, of low priority, when they are missing or older than their sources. */
export function openBackgroundBuild(log: Logger): BackgroundBuild {
  let child: ChildProcess | undefined
  let failedAt = -Infinity
  let look: { output: Promise<string>; at: number } | undefined

  function lookUp(): Promise<string> {
    const now = performance.now()
    if (!look || now - look.at > lookMilliseconds) look = { output: currentOutput(), at: now }
    return look.output
  }

  function begin(output: string): void {
    const script = join(import.meta.dirname, 'build.ts')
    const builder = spawn(process.execPath, [script], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
    child = builder
    if (builder.pid !== undefined) setPriority(builder.pid, lowPriority)
    let words = ''
    builder.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-4000)))
    builder.once('error', (error) => end(error.message))
    builder.once('close', (code, signal) => {
      if (code !== 0) end(signal === null ? words : undefined)
      else end(isBuilt(output) ? undefined : 'It was built of newer sources than this process began with: restart it')
    })
  }

  function end(failure: string | undefined): void {
    child = undefined
    if (failure === undefined) return
    failedAt = performance.now()
    log.error({ words: failure }, 'The console could not be built: "npm run build" tries again')
  }

  return {
    async find() {
      const directory = await lookUp()
      if (isBuilt(directory)) return { state: 'built', directory }
      if (child) return { state: 'building' }
      if (performance.now() - failedAt < failurePauseMilliseconds) return { state: 'failed' }
      begin(directory)
      return { state: 'building' }
    },
    close() {
      child?.kill()
    },
  }
}
