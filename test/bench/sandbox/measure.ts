import type { BotInput, BotKind, BotOutput } from './bots.ts'

/** A started bot. */
export interface Bot {
  call(input: BotInput): Promise<BotOutput>
  /** Releases the bot's memory, where the side does not do that by itself. */
  stop?(): void
}

export type Start = (kind: BotKind) => Promise<Bot>

/** The questions to a process of the benchmark, asked one at a time. */
export type Question =
  /**
   * The median time from the start of a new bot to the end of its first call, in milliseconds; in a row, or with a
   * pause between bots.
   */
  | { measure: 'cold'; kind: BotKind; pauses: boolean }
  /** The median time of one bot's consecutive calls, in milliseconds. */
  | { measure: 'warm'; asks: boolean }
  /** Starts this many more bots and keeps them. */
  | { measure: 'fill'; bots: number }
  /** Calls per second to the kept bots in turn, with several in flight. */
  | { measure: 'rate'; asks: boolean }

export interface Figure {
  figure: number
}

const starts = 21
/** Long enough to prewarm the next isolate. */
const pauseMilliseconds = 50
/** The same number of calls precedes them and does not count, for V8's optimising compilers, where enabled. */
const calls = 500
const rateMilliseconds = 2000
const atOnce = 16

/** Answers the questions for one side, given the function that starts a bot. */
export function measureBots(start: Start): (question: Question) => Promise<Figure> {
  const kept: Bot[] = []

  async function fill(bots: number): Promise<number> {
    for (let count = 0; count < bots; count++) {
      const bot = await start('plain')
      await call(bot, false)
      kept.push(bot)
    }
    return kept.length
  }

  async function rate(asks: boolean): Promise<number> {
    let done = 0
    let next = 0
    const begin = performance.now()
    const end = begin + rateMilliseconds
    const caller = async () => {
      while (performance.now() < end) {
        await call(kept[next++ % kept.length]!, asks)
        done++
      }
    }
    await Promise.all(Array.from({ length: atOnce }, caller))
    return (done / (performance.now() - begin)) * 1000
  }

  return async (question) => {
    switch (question.measure) {
      case 'cold':
        return { figure: await measureCold(start, question) }
      case 'warm':
        return { figure: await measureWarm(await start('plain'), question.asks) }
      case 'fill':
        return { figure: await fill(question.bots) }
      case 'rate':
        return { figure: await rate(question.asks) }
    }
  }
}

async function measureCold(start: Start, { kind, pauses }: { kind: BotKind; pauses: boolean }): Promise<number> {
  const times: number[] = []
  for (let count = 0; count <= starts; count++) {
    if (pauses) await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds))
    const begin = performance.now()
    const bot = await start(kind)
    await call(bot, false)
    times.push(performance.now() - begin)
    bot.stop?.()
  }
  // The first start includes the process's one-time costs.
  return medianOf(times.slice(1))
}

async function measureWarm(bot: Bot, asks: boolean): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < 2 * calls; count++) {
    const begin = performance.now()
    await call(bot, asks)
    times.push(performance.now() - begin)
  }
  bot.stop?.()
  return medianOf(times.slice(calls))
}

async function call(bot: Bot, asks: boolean): Promise<void> {
  const { text } = await bot.call({ text: 'hello', asks })
  if (!text.startsWith('You said: hello')) throw new Error(`A bot answered '${text}'`)
}

function medianOf(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}
