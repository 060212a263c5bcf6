import type { BackEnd } from './back-ends.ts'
import { openConversation } from './conversation.ts'
import { startHandoverHost } from './isobot.ts'
import type { Options } from './options.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { median, percentile } from './statistics.ts'

/** Replies of the member, and as many of the bot, in turn. */
const replies = 400
const warmUp = 50
/** Upper bound of the member's p95, in milliseconds. */
const target = 300

interface Measured {
  backEnd: BackEnd
  /** Milliseconds of each reply, in the order in which they were measured in turn. */
  member: number[]
  bot: number[]
}

/**
 * Measures how soon a member's reply over the Admin API arrives at a listening user of the Chat API, and beside it how
 * soon the bot replies in another conversation.
 */
export async function measureHandover(servers: Servers, { backEnds }: Options): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const backEnd of backEnds) {
    await using parts = new AsyncDisposableStack()
    const host = await startHandoverHost(`handover_on_${backEnd}`, {
      servers,
      backEnd,
      conversations: 2,
      nodeOptions: [],
      parts,
    })
    const [handedOver, ofBot] = host.chats
    const { conversationId } = handedOver!
    const user = await openConversation(host.chatUrl, handedOver!)
    const other = await openConversation(host.chatUrl, ofBot!)
    await user.say()
    await host.takeOver(conversationId)
    const [member, bot]: number[][] = [[], []]
    for (let count = -warmUp; count < replies; count++) {
      const text = `Reply ${count}`
      const ofMember = await time(() => Promise.all([user.untilHeard(text), host.reply(conversationId, text)]))
      const reply = await time(() => other.say())
      if (count < 0) continue
      member!.push(ofMember)
      bot!.push(reply)
    }
    measured.push({ backEnd, member: member!, bot: bot! })
  }
  return measured
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** One line on the load. */
export function describeHandover(): string {
  return `Replies of a member over the Admin API until a user has them, and replies of the bot, ${replies} of each, in turn`
}

/** Makes the Markdown table. */
export function handoverTable(measured: Measured[]): string {
  return table(
    ['back end', 'a reply of', 'p50 ms', 'p95 ms', 'aim, p95', 'ratio'],
    measured.flatMap(({ backEnd, member, bot }) => {
      const ratio = median(member.map((milliseconds, index) => milliseconds / bot[index]!))
      return [
        [backEnd, 'the member', ...middleAndLate(member), `≤ ${target}`, ratio.toFixed(2)],
        [backEnd, 'the bot', ...middleAndLate(bot), '', ''],
      ]
    }),
  )
}

function middleAndLate(times: number[]): [string, string] {
  const sorted = times.toSorted((a, b) => a - b)
  return [round(percentile(sorted, 50)), round(percentile(sorted, 95))]
}
