import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { variableDefaults, variableNames, isolationLayers } from '#shared/config/config.ts'
import { errorStatuses } from '#shared/errors.ts'
import { hookNames } from '#shared/models/bot-code.ts'
import { limitVariables } from '#shared/config/limit-settings.ts'
import { eventStatuses, reservedTypes } from '#shared/models/event.ts'
import { chatPayload } from '#shared/models/payload.ts'
import { botOperations } from '#shared/router.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { toEventObject } from '../../worker/calls/event-object.ts'
import { readPages, root } from './blocks.ts'

const read = (name: string) => readFile(join(root, 'docs', name), 'utf8')

/** The rows of all tables of a page, each as its cells. */
async function rowsOf(name: string): Promise<string[][]> {
  const lines = (await read(name)).split('\n').filter((line) => line.startsWith('|'))
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const propertiesOf = (event: object) => Object.keys(toEventObject(event as unknown as ClaimedEvent))

const inCode = (names: readonly string[]) => names.map((name) => `\`${name}\``)

test('docs/settings.md has every variable that is read, and no others', async () => {
  const named = (await rowsOf('settings.md')).flatMap(([cell = '']) =>
    Array.from(cell.matchAll(/`([A-Z][A-Z\d_]+)`/g), ([, name]) => name!),
  )
  const ofCommands = ['DATA_DIR', 'URL', 'TOKEN', 'WORKSPACE', 'CONFIG_DIR'].map((name) => `ISOBOT_${name}`)
  const expected = [...variableNames, ...ofCommands].filter((name) => !Object.hasOwn(limitVariables, name))
  expect(named.toSorted()).toEqual(expected.toSorted())
})

test('docs/settings.md has the default of every variable', async () => {
  const rows = await rowsOf('settings.md')
  const cells = new Map(rows.map(([name = '', cell = '']) => [name.replaceAll('`', ''), cell]))
  const wrong = Object.entries(variableDefaults).flatMap(([name, value]) => {
    if (Object.hasOwn(limitVariables, name)) return []
    const [stated = ''] = cells.get(name)?.replaceAll('`', '').split(/[:;] /) ?? []
    return stated === (value === '' ? 'none' : String(value)) ? [] : [`${name}: ${stated}, not ${String(value)}`]
  })
  expect(wrong).toEqual([])
})

test('a default that another page states beside a variable is that of the variable', async () => {
  const pages = (await readPages()).filter(({ path }) => /^(README|docs\/(?!decisions\/))/.test(path))
  const stated = pages.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/`([A-Z][A-Z\d_]+)`(?:, | \()(\d[\d,]*)(?![\d`%])/g), ([, name = '', figure = '']) => ({
      path,
      name,
      figure: Number(figure.replaceAll(/,(?=\d{3})|,$/g, '')),
    })),
  )
  expect(stated.length).toBeGreaterThan(30)
  const wrong = stated.filter(({ name, figure }) => name in variableDefaults && variableDefaults[name] !== figure)
  expect(wrong).toEqual([])
})

test('an error type has its own status wherever a page states both', async () => {
  const pages = (await readPages()).filter(({ path }) => /^(README|docs\/(?!decisions\/))/.test(path))
  const stated = pages.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\b([45]\d\d) `([A-Z][A-Za-z]+)`|`([A-Z][A-Za-z]+)` \(([45]\d\d)\)/g), (match) => ({
      path,
      type: match[2] ?? match[3] ?? '',
      status: Number(match[1] ?? match[4]),
    })),
  )
  expect(stated.length).toBeGreaterThan(30)
  const statuses: Record<string, number> = errorStatuses
  expect(stated.filter(({ type, status }) => statuses[type] !== status)).toEqual([])
})

/** The labels of a navigation of the console, which is one list at the beginning of its file. */
async function labels(path: string): Promise<string[]> {
  const source = await readFile(join(root, 'console', 'source', path), 'utf8')
  const [, list = ''] = /^const (?:sections|tabs).* = ([[{]\n[^]*?^[\]}])/m.exec(source) ?? []
  return Array.from(list.matchAll(/label: '([^']+)'/g), ([, label = '']) => label)
}

test('docs/console.md has every page of the console and every tab of a bot, in their order', async () => {
  const rows = (await rowsOf('console.md')).map(([name = '']) => name)
  const [sections, tabs] = await Promise.all([labels('shell.tsx'), labels('bot/bot-page.tsx')])
  expect([sections.length > 5, tabs.length > 10]).toEqual([true, true])
  const from = (first: string) => rows.slice(rows.indexOf(first) + 2)
  expect(from('Page').slice(0, sections.length)).toEqual(sections)
  expect(from('Tab').slice(0, tabs.length)).toEqual(tabs)
})

test('docs/event-reference.md has every property of the event, with those that are always there', async () => {
  const everything = {
    id: 'evt_1',
    bot_id: 'bot_1',
    created_at: new Date(),
    direction: 'incoming',
    type: 'message_created',
    payload: {},
    message_type: 'text',
    message_payload: { text: 'hi' },
    conversation_id: 'conv_1',
    user_id: 'user_1',
    message_id: 'msg_1',
    integration: 'chat',
  }
  const least = { ...everything, conversation_id: null, user_id: null, message_id: null, integration: null }
  const rows = (await rowsOf('event-reference.md')).filter(([, , when]) => when === 'always' || when === 'sometimes')
  expect(rows.map(([name = '']) => name).toSorted()).toEqual(inCode(propertiesOf(everything)).toSorted())
  const always = rows.filter(([, , when]) => when === 'always')
  expect(always.map(([name = '']) => name).toSorted()).toEqual(inCode(propertiesOf(least)).toSorted())
})

test('docs/event-reference.md has every type of message with its fields, and those that may be missing', async () => {
  const rows = await rowsOf('event-reference.md')
  const documented = chatPayload.oneOf.map(({ properties: { type } }) => {
    const [, text = ''] = rows.find(([name]) => name === `\`${type.const}\``) ?? []
    // The contents of items are described after a colon.
    const fields = text.split(/, (?=`)/).map((part) => part.replace(/:.*/, ''))
    return [type.const, fields.filter((field) => /^`\w+`\??$/.test(field)).toSorted()]
  })
  expect(documented).toEqual(
    chatPayload.oneOf.map(({ properties: { type, ...fields }, required }) => {
      const isRequired = (field: string) => (required as readonly string[]).includes(field)
      const words = Object.keys(fields).map((field) => `\`${field}\`${isRequired(field) ? '' : '?'}`)
      return [type.const, words.toSorted()]
    }),
  )
})

test('docs/event-reference.md has every status of an event, every type that is reserved, and every hook', async () => {
  const page = await read('event-reference.md')
  for (const name of inCode([...eventStatuses, ...reservedTypes, ...hookNames])) expect(page).toContain(name)
})

test('docs/writing-a-bot.md has every hook and everything that a client can do', async () => {
  const page = await read('writing-a-bot.md')
  for (const name of inCode([...hookNames, ...botOperations.map((operation) => operation.name)])) {
    expect(page).toContain(name)
  }
})

test('docs/admin-api.md has every error type under its status', async () => {
  const rows = await rowsOf('admin-api.md')
  for (const [type, status] of Object.entries(errorStatuses)) {
    expect(rows.find(([code]) => code === String(status))?.[1]).toContain(`\`${type}\``)
  }
})

test('docs/security.md has every isolation layer', async () => {
  const rows = await rowsOf('security.md')
  for (const name of inCode(isolationLayers)) expect(rows.map(([cell]) => cell)).toContain(name)
})
