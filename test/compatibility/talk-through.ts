import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Reply } from '../../cli/dry-run/conversation.ts'
import type { V12Bot } from '../../cli/import/v12/bots.ts'
import { toFields, toText, toTexts } from '../../cli/import/v12/json.ts'
import type { ImportedProject } from '../../cli/import/v12/project.ts'
import { openImported } from '../cli/import/open-imported.ts'
import type { Transcript, Turn } from './transcripts.ts'

/** How the conversations with a bot went. */
export interface Talk {
  turns: number
  /** Turns with the replies of the original. */
  equal: number
  /** Turns that differ as the report says. */
  reported: number
  /** Unexpected replies in the other turns. */
  faults: string[]
}

/** Holds conversations with an imported bot, and compares the replies with those of the original. */
export async function talkThrough(project: ImportedProject, bot: V12Bot, transcripts: Transcript[]): Promise<Talk> {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-talk-'))
  const talk: Talk = { turns: 0, equal: 0, reported: 0, faults: [] }
  try {
    for (const [index, { secrets, answers = {}, turns }] of transcripts.entries()) {
      await using opened = await openImported(project, join(folder, String(index)), secrets)
      const conversation = opened.openConversation({ answers })
      for (const turn of turns) {
        talk.turns += 1
        const said = textOf(bot, turn.say)
        const replies = await conversation.say(said).catch((error: Error) => [`failed: ${error.message}`])
        if (matches(bot, replies, turn.hears)) talk.equal += 1
        else if (turn.here && matches(bot, replies, turn.here)) talk.reported += 1
        else talk.faults.push(`${said}: ${JSON.stringify(replies)}, not ${turn.hears.join(', ')}`)
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return talk
}

function textOf(bot: V12Bot, say: Turn['say']): string {
  return typeof say === 'string' ? say : (questionsOf(bot, say.question).questions[0] ?? '')
}

function matches(bot: V12Bot, replies: Reply[], expected: string[]): boolean {
  return replies.length === expected.length && replies.every((reply, index) => isFrom(bot, reply, expected[index]!))
}

/** Whether a reply is what an element or an answer of the original says. */
function isFrom(bot: V12Bot, reply: Reply, source: string): boolean {
  if (source.startsWith('qna:')) {
    const { answers } = questionsOf(bot, source.slice('qna:'.length))
    return answers.some((answer) => isRendered(reply, answer))
  }
  const fields = toFields(bot.content.get(source)?.fields)
  const field = (name: string) => fields[`${name}$${bot.language}`] ?? fields[name]
  const texts = [toText(field('text')), ...toTexts(field('variations'))]
  if (typeof reply === 'string') return texts.some((text) => isRendered(reply, text))
  if (reply.type === 'image') return isRendered(reply['imageUrl'], toText(field('image')))
  const choices = Array.isArray(field('choices')) ? (field('choices') as { value: string }[]) : []
  const values = (reply['options'] as { value: string }[] | undefined)?.map(({ value }) => value)
  return (
    isRendered(reply['text'], texts[0]!) && JSON.stringify(values) === JSON.stringify(choices.map(({ value }) => value))
  )
}

/** Whether a text is a template with anything in the place of its variables. */
function isRendered(text: unknown, template: string): boolean {
  if (typeof text !== 'string' || template === '') return false
  const parts = template
    .split(/\{\{\{?[^{}]*\}?\}\}/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('[^]+?')}$`).test(text)
}

function questionsOf({ qna, language }: V12Bot, id: string): { questions: string[]; answers: string[] } {
  const item = qna.find(({ file }) => file.startsWith(`qna/${id}`))
  const data = toFields(item?.fields['data'] ?? item?.fields)
  const of = (name: string) => toTexts(toFields(data[name])[language])
  return { questions: of('questions'), answers: of('answers') }
}
