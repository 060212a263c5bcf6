import type { Flow } from '#shared/flows/flow.ts'
import { contentCard } from './content.ts'
import { FlowBuilder, toNode, type Conversion, type NewCard } from './conversion.ts'
import { toTemplate } from './expressions.ts'
import { Ids } from './ids.ts'
import { toFields, toText, toTexts, type Fields } from './json.ts'
import { Links } from './links.ts'

/** Cases of one router. */
const casesPerNode = 90
const maxItems = 900

export interface Question {
  /** The name of its intent. */
  intent: string
  file: string
  data: Fields
}

/** Questions and answers that are enabled. */
export function questionsOf({ bot }: Pick<Conversion, 'bot'>): Question[] {
  return bot.qna
    .flatMap(({ file, fields }) => {
      const data = toFields(fields['data'] ?? fields)
      const id = toText(fields['id']) || file.replace(/^qna\/|\.json$/g, '')
      return data['enabled'] === false ? [] : [{ intent: `__qna__${id}`, file, data }]
    })
    .slice(0, maxItems)
}

/** The id of the flow with questions and answers. */
const flowId = 'qna'

/** Adds the node at which a conversation begins: questions are answered when no flow is in progress. @returns its id */
export function addQuestions(conversion: Conversion, builder: FlowBuilder, start: string): string {
  if (questionsOf(conversion).length === 0) return start
  const id = builder.ids.make('v12_questions')
  const isQuestion = { $: "(event.nlu?.intent?.name ?? '').startsWith('__qna__')" }
  const card: NewCard = { type: 'condition', if: isQuestion, ports: { true: `${flowIdOf(conversion)}/`, false: start } }
  builder.nodes.unshift(toNode(id, 'Questions and answers', [card], start))
  return id
}

function flowIdOf({ flowIds }: Conversion): string {
  const taken = new Set(flowIds.values())
  let id = flowId
  while (taken.has(id)) id += '_v12'
  return id
}

/** The flow with a node for each question. */
export function addQuestionsFlow(conversion: Conversion): Flow | undefined {
  const { bot } = conversion
  const questions = questionsOf(conversion)
  if (questions.length === 0) return undefined
  if (bot.qna.length > maxItems) {
    bot.report.lost(
      'qna/',
      undefined,
      `${bot.qna.length - maxItems} questions`,
      'Put the answers into a knowledge base',
    )
  }
  const source = {
    name: 'qna',
    file: 'qna/',
    start: '',
    nodes: [],
    catchAll: { onReceive: [], next: [] },
    skillData: {},
    isSkill: false,
  }
  // The flow belongs to the importer: no transition of the original leads to one of its nodes.
  const known: Conversion = { ...conversion, nodeIds: new Map([...conversion.nodeIds, ['qna', new Map()]]) }
  const builder = new FlowBuilder(flowIdOf(conversion), source, new Ids())
  const links = new Links(known, builder)
  const routers: string[] = []
  for (let from = 0; from < questions.length; from += casesPerNode)
    routers.push(builder.ids.make(`questions_${routers.length + 1}`))
  for (const [index, id] of routers.entries()) {
    const cases: { port: string; if: unknown }[] = []
    const ports: Record<string, string | null> = {}
    for (const question of questions.slice(index * casesPerNode, (index + 1) * casesPerNode)) {
      const port = `case_${cases.length + 1}`
      cases.push({ port, if: { $: `event.nlu.intent.name === ${JSON.stringify(question.intent)}` } })
      ports[port] = addQuestion(known, links, question)
    }
    builder.add(toNode(id, undefined, [{ type: 'router', cases, ports }], routers[index + 1] ?? null))
  }
  return { id: builder.id, name: 'Questions and answers', start: routers[0]!, nodes: builder.nodes }
}

function addQuestion(conversion: Conversion, links: Links, { file, data, intent }: Question): string {
  const { bot } = conversion
  const id = links.builder.ids.make(intent.replace('__qna__', ''), 'question')
  const kind = toText(data['action']) || 'text'
  const cards = kind.includes('text') ? answerCards(conversion, file, data) : []
  const flow = toText(data['redirectFlow'])
  const node = toText(data['redirectNode'])
  const target = flow === '' ? '' : node === '' ? flow : `${flow}#${node}`
  if (kind.includes('redirect') && target === '')
    bot.report.lost(file, undefined, 'the redirect without a flow', 'Set `next` of the node')
  const next = kind.includes('redirect') && target !== '' ? links.to(target, undefined, null) : null
  links.builder.add(toNode(id, toTexts(toFields(data['questions'])[bot.language])[0] ?? intent, cards, next))
  return id
}

function answerCards(conversion: Conversion, file: string, data: Fields): NewCard[] {
  const { bot } = conversion
  const place = { file }
  const answers = toFields(data['answers'])
  const inLanguage = (language: string) => {
    const list = toTexts(answers[language])
    return list.length > 0 ? list : toText(answers[language]) ? [toText(answers[language])] : []
  }
  const own = inLanguage(bot.language)
  const texts = own.length > 0 ? own : Object.keys(answers).flatMap(inLanguage).slice(0, 1)
  const [element] = texts.filter((text) => /^#!\S+$/.test(text.trim()))
  if (element !== undefined) return contentCard(conversion, element.trim().slice(2), place)
  const render = (text: string) => {
    const rendered = toTemplate(text, place, bot.report)
    return rendered.length > 4096 ? { type: 'text', text: rendered } : rendered
  }
  const messages = texts
    .map(render)
    .filter((text) => text !== '')
    .slice(0, 50)
  if (messages.length === 0) {
    bot.report.lost(file, undefined, 'the question without an answer', 'Add a `say` card')
    return []
  }
  const others = Object.keys(answers).filter(
    (language) => language !== bot.language && inLanguage(language).length > 0 && own.length > 0,
  )
  const translations = Object.fromEntries(others.map((language) => [language, render(inLanguage(language)[0]!)]))
  return [
    {
      type: 'say',
      ...(messages.length > 1 ? { variants: messages } : { message: messages[0]! }),
      ...(others.length > 0 && { translations }),
    },
  ]
}
