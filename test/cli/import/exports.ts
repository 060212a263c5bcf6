import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { create } from 'tar'

/** Exports of v12, of our own making. */
export interface Exports extends AsyncDisposable {
  folder: string
  /** Writes files into a folder. A text is written as it is, anything else as JSON. */
  write(name: string, files: Record<string, unknown>): Promise<string>
  /** Packs such a folder, as v12 exports a bot. */
  pack(name: string, files: Record<string, unknown>): Promise<string>
}

export async function openExports(): Promise<Exports> {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-v12-'))
  const write = async (name: string, files: Record<string, unknown>) => {
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, name, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
    }
    return join(folder, name)
  }
  return {
    folder,
    write,
    async pack(name, files) {
      const cwd = await write(name, files)
      const file = `${cwd}.tgz`
      await create({ cwd, file, gzip: true }, Object.keys(files))
      return file
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A node of v12. */
export function node(name: string, fields: object = {}): object {
  return { id: `id-${name}`, name, onEnter: [], onReceive: null, next: [], type: 'standard', ...fields }
}

/** Transitions of v12, by condition. */
export function next(targets: Record<string, string>): object[] {
  return Object.entries(targets).map(([condition, target]) => ({ condition, node: target }))
}

export function flow(startNode: string, nodes: object[], fields: object = {}): object {
  return { version: '0.0.1', startNode, nodes, catchAll: {}, ...fields }
}

export function text(id: string, fields: object): object {
  return { id, formData: fields }
}

/** A pizzeria: choice, an answer that is stored, a flow that returns, an action, templates, questions and answers. */
export const pizzeria: Record<string, unknown> = {
  'bot.config.json': { id: 'pizzeria', name: 'Pizzeria', defaultLanguage: 'en', dialog: { timeoutInterval: '5m' } },
  'flows/main.flow.json': flow('entry', [
    node('entry', { onEnter: ['say #!builtin_text-hello'], next: next({ true: 'menu' }) }),
    {
      ...node('menu'),
      type: 'skill-call',
      skill: 'choice',
      flow: 'skills/choice-1.flow.json',
      next: next({
        'temp[\'skill-choice-ret-abc\'] == "order"': 'name',
        'temp[\'skill-choice-ret-abc\'] == "hours"': 'hours.flow.json',
        true: 'END',
      }),
    },
    node('name', {
      onEnter: ['say #!builtin_text-name'],
      onReceive: ['builtin/setVariable {"type":"user","name":"name","value":"{{event.preview}}"}'],
      next: next({ 'user.name.length < 2': 'name', true: 'ask' }),
    }),
    node('ask', { next: next({ "temp.confirmed !== 'yes'": 'confirm.flow.json', true: 'order' }) }),
    node('order', {
      onEnter: ['shop/order {"size":"{{temp.size}}","count":2}', 'say #!builtin_text-done'],
      next: next({ 'event.state.temp.missing.value > 3': 'entry', 'temp.total > 10': 'expensive', true: 'END' }),
    }),
    node('expensive', { onEnter: ['say #!builtin_text-expensive'] }),
  ]),
  'flows/main.ui.json': { nodes: [{ id: 'id-entry', position: { x: 10, y: 20 } }], links: [] },
  'flows/confirm.flow.json': flow('size', [
    node('size', {
      onEnter: ['say #!builtin_text-size'],
      onReceive: ['builtin/setVariable {"type":"temp","name":"size","value":"{{event.payload.text}}"}'],
      next: next({ 'event.preview === "stop"': 'END', true: 'sure' }),
    }),
    node('sure', {
      onEnter: ['builtin/setVariable {"type":"temp","name":"confirmed","value":"yes"}'],
      next: next({ true: '#' }),
    }),
  ]),
  'flows/hours.flow.json': flow('say', [
    node('say', { onEnter: ['say #!builtin_text-hours'], next: next({ true: 'main.flow.json#menu' }) }),
  ]),
  'flows/skills/choice-1.flow.json': flow('entry', [node('entry')], {
    skillData: {
      randomId: 'abc',
      contentId: 'builtin_single-choice-menu',
      invalidContentId: 'builtin_text-sorry',
      keywords: { order: ['order', 'Order a pizza', 'hungry'], hours: ['hours', 'Opening hours'] },
      config: { nbMaxRetries: 1, repeatChoicesOnInvalid: true },
    },
  }),
  'content-elements/builtin_text.json': [
    text('builtin_text-hello', { text$en: 'Welcome!', typing$en: true, text$fr: 'Bienvenue !' }),
    text('builtin_text-name', { text$en: 'Your name?' }),
    text('builtin_text-size', { text$en: 'Which size, {{{user.name}}}?' }),
    text('builtin_text-done', { text$en: '{{temp.receipt.lines.0}}: {{temp.total}} euros{{user.none.at.all}}' }),
    text('builtin_text-expensive', { text$en: 'That is a lot!' }),
    text('builtin_text-hours', { text$en: 'From 10 to 22.' }),
    text('builtin_text-sorry', { text$en: 'Sorry?' }),
  ],
  'content-elements/builtin_single-choice.json': [
    text('builtin_single-choice-menu', {
      text$en: 'What can I do?',
      choices$en: [
        { title: 'Order a pizza', value: 'order' },
        { title: 'Opening hours', value: 'hours' },
      ],
    }),
  ],
  'actions/shop/order.js': `
    const price = { large: 9, small: 4 }[args.size] || 1
    temp.total = price * args.count
    temp.receipt = { lines: [\`\${args.count} \${args.size} for \${user.name}\`] }
    session.orders = (session.orders || 0) + 1
    delete temp.size
    await bp.kvs.forBot(event.botId).set('last', temp.total)
    const payloads = await bp.cms.renderElement('builtin_text', { text: 'Order ' + session.orders }, event)
    await bp.events.replyToEvent(event, payloads)
    return
  `,
  'qna/parking.json': {
    id: 'parking',
    data: {
      action: 'text',
      enabled: true,
      questions: { en: ['Where can I park my car?', 'Is there parking?'] },
      answers: { en: ['Behind the house.'] },
    },
  },
  'qna/times.json': {
    id: 'times',
    data: {
      action: 'text_redirect',
      enabled: true,
      questions: { en: ['When do you open on Sundays?'] },
      answers: { en: ['Even on Sundays.'] },
      redirectFlow: 'hours.flow.json',
      redirectNode: 'say',
    },
  },
}
