import { setTimeout as pause } from 'node:timers/promises'
import { answerQuestions } from './asked-process.ts'

/** The process of a neighbour, whose requests show how long others wait for the event loop of the api. */

export interface NeighbourQuestion {
  /** Starts to send requests, or ends and asks for their times. */
  ask: { url: string; headers: Record<string, string> } | 'times'
}

export interface NeighbourAnswer {
  milliseconds: number[]
}

const betweenMilliseconds = 10

let over = new AbortController()
let asking: Promise<number[]> = Promise.resolve([])

answerQuestions(async ({ ask }: NeighbourQuestion): Promise<NeighbourAnswer> => {
  if (ask === 'times') {
    over.abort()
    return { milliseconds: await asking }
  }
  over = new AbortController()
  asking = send(ask, over.signal)
  await pause(500)
  return { milliseconds: [] }
})

async function send({ url, headers }: { url: string; headers: Record<string, string> }, until: AbortSignal) {
  const milliseconds: number[] = []
  // The first one opens the connection.
  await fetch(url, { headers }).then((response) => response.arrayBuffer())
  while (!until.aborted) {
    const begin = performance.now()
    const response = await fetch(url, { headers })
    await response.arrayBuffer()
    milliseconds.push(performance.now() - begin)
    await pause(betweenMilliseconds)
  }
  return milliseconds
}
