import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convertExport } from '../../../cli/import/v12/import.ts'
import { createMatcher } from '../../../templates/v12/matcher.ts'
import { flow, next, node, openExports, text, type Exports } from './exports.ts'
import { openImported } from './open-imported.ts'

let exports: Exports
beforeAll(async () => {
  exports = await openExports()
})
afterAll(() => exports[Symbol.asyncDispose]())

/** Imports a bot of these files. */
async function convert(name: string, files: Record<string, unknown>) {
  const written = await exports.write(name, {
    'bot.config.json': { id: name, defaultLanguage: 'en' },
    'content-elements/builtin_text.json': ['hi', 'back', 'never'].map((each) =>
      text(`builtin_text-${each}`, { text$en: each }),
    ),
    ...files,
  })
  const [project] = await convertExport(written)
  return { project: project!, report: project!.files.get('REPORT.md')!.replaceAll('\\', '') }
}

const open = (project: Parameters<typeof openImported>[0], secrets?: Record<string, string>) =>
  openImported(project, join(exports.folder, 'opened', project.id), secrets)

test('the skill HitlNext and the action handoff hand the conversation over, and continue when it comes back', async () => {
  const skill = { ...node('people'), type: 'skill-call', skill: 'HitlNext', flow: 'skills/hitl.flow.json' }
  const { project, report } = await convert('people', {
    'flows/main.flow.json': flow('entry', [
      node('entry', { onEnter: ['say #!builtin_text-hi'], next: next({ true: 'people' }) }),
      { ...skill, next: next({ true: 'again' }) },
      node('again', {
        onEnter: ['say #!builtin_text-back', 'hitlnext/handoff {}', 'say #!builtin_text-never'],
        next: next({ true: 'END' }),
      }),
    ]),
    'flows/skills/hitl.flow.json': flow('entry', [node('entry')], { skillData: {} }),
  })
  expect(report).not.toContain('HitlNext')
  expect(project.totals.lost).toBe(0)
  await using bot = await open(project)
  const conversation = bot.openConversation()
  expect(await conversation.say('help')).toEqual(['hi'])
  expect(conversation.position).toMatchObject({ waitsFor: 'handover' })
  expect(await conversation.say('hello?')).toEqual([])
  expect(await conversation.resume()).toEqual(['back'])
  expect(conversation.position).toMatchObject({ waitsFor: 'handover' })
})

test('hooks of the end of a conversation run before its flow, and where there is none', async () => {
  const hook = { 'hooks/before_conversation_end/bye.js': "event.state.temp.bye = 'bye ' + event.state.user.name" }
  const main = flow('entry', [
    node('entry', {
      onEnter: ['builtin/setVariable {"type":"user","name":"name","value":"Ada"}'],
      next: next({ true: 'END' }),
    }),
  ])
  const elements = { 'content-elements/builtin_text.json': [text('builtin_text-bye', { text$en: '{{temp.bye}}' })] }
  const end = flow('entry', [node('entry', { onEnter: ['say #!builtin_text-bye'] })])
  const { project } = await convert('ending', {
    ...hook,
    ...elements,
    'flows/main.flow.json': main,
    'flows/conversation_end.flow.json': end,
  })
  expect(project.totals.lost).toBe(0)
  await using bot = await open(project)
  expect(await bot.openConversation().say('hi')).toEqual(['bye Ada'])

  const alone = await convert('ending-alone', {
    'hooks/before_conversation_end/count.js': 'event.state.user.ended = (event.state.user.ended || 0) + 1',
    'flows/main.flow.json': main,
  })
  const { project: withoutFlow } = alone
  expect(withoutFlow.flows.find(({ id }) => id === 'end')).toMatchObject({
    nodes: [{ cards: [{ type: 'action', action: 'hooks_before_conversation_end_count_js' }, { type: 'code' }] }],
  })
  const ending = withoutFlow.flows.find(({ id }) => id === 'main')!.nodes.find(({ next: to }) => to === 'v12_end')
  expect(ending).toMatchObject({ id: 'entry' })
})

test('scripts find the configuration of modules as secrets, and the hosts that they name are granted', async () => {
  const { project, report } = await convert('weather', {
    'actions/forecast.js': `
      const axios = require('axios')
      const { createHash } = require('crypto')
      const { key } = await bp.config.getModuleConfig('my-weather')
      const { data } = await axios.get('https://api.example.com/weather?q=' + event.payload.text + '&key=' + key)
      temp.sky = data.sky
      temp.code = createHash('sha1').update(data.sky).digest('hex').slice(0, 4)`,
    'content-elements/builtin_text.json': [
      text('builtin_text-sky', { text$en: 'It is {{event.state.temp.sky}}, {{event.state.temp.code}}' }),
    ],
    'flows/main.flow.json': flow('entry', [
      node('entry', { onEnter: ['forecast {}', 'say #!builtin_text-sky'], next: next({ true: 'END' }) }),
    ]),
  })
  expect(JSON.parse(project.files.get('isobot.json')!)).toMatchObject({ permissions: { net: ['api.example.com'] } })
  expect(report).toMatch(/bp\.config\.getModuleConfig .*CONFIG_<NAME>/)
  expect(report).toContain('requests to api.example.com')
  expect(project.totals.lost).toBe(0)
  await using bot = await open(project, { SECRET_CONFIG_MY_WEATHER: '{"key":"k"}' })
  const fetched = { 'https://api.example.com/weather?q=Bern&key=k': { body: { sky: 'blue' } } }
  expect(await bot.openConversation({ answers: { fetch: fetched } }).say('Bern')).toEqual(['It is blue, 4c9a'])
})

test('messages are recognised by similar examples, and others are not', () => {
  const recognise = createMatcher([
    { name: 'hours', examples: ['When do you open?', 'What are your opening hours?', 'Are you open on Sundays?'] },
    { name: 'parking', examples: ['Where can I park my car?', 'Is there parking?'] },
    { name: 'thanks', examples: ['Merci, à bientôt'] },
  ])
  const nameOf = (message: string) => recognise(message).intent.name
  expect(['at what hour do you open on sunday', 'opening hours please'].map(nameOf)).toEqual(['hours', 'hours'])
  expect(['WHERE CAN I PARK MY CAR', 'is there any parking here', 'merci a bientot!!'].map(nameOf)).toEqual([
    'parking',
    'parking',
    'thanks',
  ])
  expect(['sing me a song', '', '???', '4711', '__proto__'].map(nameOf)).toEqual(
    Array.from({ length: 5 }, () => 'none'),
  )
  expect(recognise('Is there parking').intent.confidence).toBe(1)
  expect(createMatcher([])('hello').intent.name).toBe('none')
})
