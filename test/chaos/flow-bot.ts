import { answerTo, hear, logOf, type Heard } from './bot.ts'

/** The position of a conversation with the bot of flows, as the platform stores it. */
export interface StoredPosition {
  frames: { flow: string; card: string; waits?: { for: string } }[]
  temp: { heard?: Heard }
}

/**
 * The same bot by flows: it waits at a capture, calls a flow for each message, and keeps what it has heard in the variables
 * of the position, and in the conversation's state as well.
 */
export const flowBotCode = `
  ${String(hear)}
  ${String(answerTo)}
  ${String(logOf)}
  const pause = (most) => new Promise((resolve) => setTimeout(resolve, Math.random() * most))
  export const flows = [
    {
      id: 'main',
      start: 'hear',
      timeout: { seconds: 0 },
      nodes: [
        {
          id: 'hear',
          cards: [
            { id: 'call', type: 'call', flow: 'answer', input: { text: ({ event }) => event.preview }, output: { heard: 'temp.heard' } },
            { id: 'keep', type: 'set', values: {
              'conversation.count': ({ temp }) => temp.heard.count,
              'conversation.digest': ({ temp }) => temp.heard.digest,
            } },
            { id: 'ask', type: 'capture', variable: 'temp.text' },
          ],
          next: 'hear',
        },
      ],
    },
    {
      id: 'answer',
      start: 'only',
      nodes: [
        {
          id: 'only',
          cards: [
            { id: 'hear', type: 'code', async code({ workflow, temp }) {
              await pause(100)
              workflow.nonce = Math.random()
              workflow.heard = hear(temp.heard ?? {}, workflow.text)
            } },
            { id: 'log', type: 'log', message: ({ workflow }) => logOf(workflow.text) },
            { id: 'nap', type: 'wait', seconds: () => Math.random() / 20 },
            { id: 'say', type: 'say', message: ({ workflow }) => answerTo(workflow.text, workflow.heard) },
            { id: 'after', type: 'code', async code({ workflow }) { await pause(100); workflow.over = workflow.nonce } },
          ],
        },
      ],
    },
  ]`

/** Whether a conversation waits for the next message, with everything that it has heard. */
export function isPositionSame(position: StoredPosition | null, serial: Partial<Heard>): boolean {
  if (position === null) return serial.count === undefined
  const [frame, ...others] = position.frames
  const { heard } = position.temp
  const isWaiting = frame?.card === 'ask' && frame.waits?.for === 'answer' && others.length === 0
  return isWaiting && heard?.count === serial.count && heard?.digest === serial.digest
}
