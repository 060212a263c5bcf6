import type { BotInput, BotKind, BotOutput } from './bots.ts'

/** A bot that was started. */
export interface Bot {
  call(input: BotInput): Promise<BotOutput>
  /** Gives its memory back, where somebody else does not see to that. */
  stop?(): void
}

export type Start = (kind: BotKind) => Promise<Bot>

/** What a process of the benchmark is asked, one thing after the other. */
export type Question =
  /**
   * The median of the times from nothing to the end of a new bot's first call, in milliseconds; one bot straight after the
   * other, or with a moment between them.
   */
  | { measure: 'cold'; kind: BotKind; pauses: boolean }
  /** The median of the times of one bot's calls, one after the other, in milliseconds. */
  | { measure: 'warm'; asks: boolean }
  /** Starts so many more bots and keeps them. */
  | { measure: 'fill'; bots: number }
  /** How many calls a second the kept bots answer in turn, several at once. */
  | { measure: 'rate'; asks: boolean }

export interface Figure {
  figure: number
}

const starts = 21
/** Long enough to make ready for the next one. */
const pauseMilliseconds = 50
/** As many again come before them and do not count: where V8 may, it optimises what runs often. */
const calls = 500
const rateMilliseconds = 2000
const atOnce = 16

/** Answers the questions of one side, of which no more is known than how it starts a bot. */
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
  // The first one pays for what the process does once.
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
