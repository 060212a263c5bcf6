import { heard } from './server.ts'

/** A library, and a call of it that a bot makes. */
export interface LibraryCase {
  group: string
  /** The packages to install, with exact versions; the first is the one that it is about. */
  packages: Record<string, string>
  /** The function that is called, for the page. */
  use: string
  /** A module that exports `answer`, which is given the address of the test's server, and the addresses of all servers. */
  source: string
  /** The result of `answer`, as text. */
  expects: string
  /** The form in which its project takes packages, in `isobot.json`. */
  form?: 'node'
  /** A note for authors who use it. */
  note?: string
  /** The alternative, for libraries that cannot be used. */
  instead?: string
}

export const libraryCases: LibraryCase[] = [
  {
    group: 'Models',
    packages: { openai: '6.49.0' },
    use: 'a completion',
    source: `import OpenAI from 'openai'
export async function answer(url: string) {
  const client = new OpenAI({ apiKey: 'key', baseURL: \`\${url}/v1\`, dangerouslyAllowBrowser: true })
  const { choices } = await client.chat.completions.create({ model: 'some', messages: [{ role: 'user', content: 'Hi' }] })
  return choices[0].message.content
}`,
    expects: heard,
    note: 'takes an isolate for a browser: `dangerouslyAllowBrowser: true`',
  },
  {
    group: 'Models',
    packages: { '@anthropic-ai/sdk': '1.12.0' },
    use: 'a message',
    source: `import Anthropic from '@anthropic-ai/sdk'
export async function answer(url: string) {
  const client = new Anthropic({ apiKey: 'key', baseURL: url, dangerouslyAllowBrowser: true })
  const { content } = await client.messages.create({ model: 'some', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
  return content[0].text
}`,
    expects: heard,
    note: 'takes an isolate for a browser: `dangerouslyAllowBrowser: true`',
  },
  {
    group: 'Models',
    packages: { '@google/genai': '2.32.0' },
    use: 'a generated text',
    source: `import { GoogleGenAI } from '@google/genai'
export async function answer(url: string) {
  const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: url } })
  const { text } = await client.models.generateContent({ model: 'some', contents: 'Hi' })
  return text
}`,
    expects: heard,
  },
  {
    group: 'Models',
    packages: { ai: '6.0.326', '@ai-sdk/openai': '3.0.141' },
    use: '`generateText`',
    source: `import { generateText } from 'ai'
import { createOpenAI } from '@ai-sdk/openai'
export async function answer(url: string) {
  const { text } = await generateText({ model: createOpenAI({ apiKey: 'key', baseURL: \`\${url}/v1\` }).chat('some'), prompt: 'Hi' })
  return text
}`,
    expects: heard,
  },
  {
    group: 'Models',
    packages: { '@langchain/core': '1.4.0' },
    use: 'a prompt, piped into a function',
    source: `import { ChatPromptTemplate } from '@langchain/core/prompts'
import { RunnableLambda } from '@langchain/core/runnables'
export async function answer() {
  const prompt = ChatPromptTemplate.fromMessages([['user', 'Say {word}']])
  return prompt.pipe(RunnableLambda.from((value) => value.messages[0].content)).invoke({ word: 'this' })
}`,
    expects: 'Say this',
  },
  {
    group: 'Models',
    packages: { langchain: '1.5.14', '@langchain/core': '1.4.0', '@langchain/openai': '1.6.0' },
    use: 'an agent that asks a model',
    source: `import { createAgent } from 'langchain'
import { ChatOpenAI } from '@langchain/openai'
export async function answer(url: string) {
  const model = new ChatOpenAI({ model: 'some', apiKey: 'key', configuration: { baseURL: \`\${url}/v1\`, dangerouslyAllowBrowser: true } })
  const { messages } = await createAgent({ model, tools: [] }).invoke({ messages: [{ role: 'user', content: 'Hi' }] })
  return messages.at(-1).content
}`,
    expects: heard,
  },
  {
    group: 'HTTP',
    packages: { axios: '1.21.1' },
    use: 'GET and POST',
    source: `import axios from 'axios'
export async function answer(url: string) {
  await axios.post(\`\${url}/json\`, { some: 'thing' })
  return (await axios.get(\`\${url}/json\`)).data.text
}`,
    expects: heard,
  },
  {
    group: 'HTTP',
    packages: { ky: '1.14.3' },
    use: 'GET and POST',
    source: `import ky from 'ky'
export async function answer(url: string) {
  await ky.post(\`\${url}/json\`, { json: { some: 'thing' } })
  return (await ky.get(\`\${url}/json\`).json()).text
}`,
    expects: heard,
  },
  {
    group: 'HTTP',
    packages: { ofetch: '1.5.1' },
    use: 'GET',
    source: `import { ofetch } from 'ofetch'
export async function answer(url: string) {
  return (await ofetch(\`\${url}/json\`)).text
}`,
    expects: heard,
  },
  {
    group: 'HTTP',
    packages: { got: '14.6.6' },
    use: 'GET',
    source: `import got from 'got'
export async function answer(url: string) {
  return (await got(\`\${url}/json\`).json()).text
}`,
    expects: heard,
  },
  {
    group: 'HTTP',
    packages: { 'node-fetch': '3.3.2' },
    use: 'GET',
    source: `import fetch from 'node-fetch'
export async function answer(url: string) {
  return (await (await fetch(\`\${url}/json\`)).json()).text
}`,
    expects: heard,
  },
  {
    group: 'HTTP',
    packages: { undici: '7.30.2' },
    use: '`fetch` and `request`',
    source: `import { fetch, request } from 'undici'
export async function answer(url: string) {
  await request(\`\${url}/json\`, { method: 'POST', body: 'some' })
  return (await (await fetch(\`\${url}/json\`)).json()).text
}`,
    expects: heard,
    note: 'an `Agent` of its own opens [connections](node-modules.md#connections)',
  },
  {
    group: 'HTTP',
    packages: { ws: '8.23.0' },
    use: 'a client',
    source: `import WebSocket from 'ws'
export function answer() {
  return typeof new WebSocket(null, undefined, {}).ping
}`,
    expects: 'function',
    form: 'node',
    note: 'over [connections](node-modules.md#connections), with `"packages": "node"` in `isobot.json`',
  },
  {
    group: 'Services',
    packages: { '@notionhq/client': '5.26.0' },
    use: 'its user',
    source: `import { Client } from '@notionhq/client'
export async function answer(url: string) {
  return (await new Client({ auth: 'key', baseUrl: url }).users.me({})).name
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { stripe: '23.1.0' },
    use: 'a customer',
    source: `import Stripe from 'stripe'
export async function answer(url: string) {
  const { hostname: host, port } = new URL(url)
  const stripe = new Stripe('key', { host, port, protocol: 'http' })
  return (await stripe.customers.retrieve('cus_1')).name
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { '@octokit/rest': '22.0.1' },
    use: 'a repository',
    source: `import { Octokit } from '@octokit/rest'
export async function answer(url: string) {
  return (await new Octokit({ baseUrl: url }).rest.repos.get({ owner: 'some', repo: 'thing' })).data.description
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { '@supabase/supabase-js': '2.109.0' },
    use: 'rows',
    source: `import { createClient } from '@supabase/supabase-js'
export async function answer(url: string) {
  const { data, error } = await createClient(url, 'key', { realtime: { transport: class {} } }).from('rooms').select()
  if (error) throw new Error(error.message)
  return data[0].name
}`,
    expects: heard,
    note: 'without `realtime: { transport: class {} }` it looks for a WebSocket, and there is none',
  },
  {
    group: 'Services',
    packages: { '@slack/web-api': '8.2.0' },
    use: 'a call',
    source: `import { WebClient } from '@slack/web-api'
export async function answer(url: string) {
  return String((await new WebClient('key', { slackApiUrl: \`\${url}/\` }).api.test()).ok)
}`,
    expects: 'true',
  },
  {
    group: 'Services',
    packages: { 'discord.js': '14.28.1' },
    use: 'a message, by `REST`',
    source: `import { REST, Routes } from 'discord.js'
export async function answer(url: string) {
  const rest = new REST({ version: '10', api: \`\${url}/api\` }).setToken('key')
  return (await rest.post(Routes.channelMessages('1'), { body: { content: 'Hi' } })).content
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { grammy: '1.46.0' },
    use: 'a message',
    source: `import { Bot } from 'grammy'
export async function answer(url: string) {
  return (await new Bot('1:key', { client: { apiRoot: url } }).api.sendMessage(1, 'Hi')).text
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { twilio: '6.2.0' },
    use: 'a message',
    source: `import twilio from 'twilio'
export async function answer(url: string) {
  const { RequestClient } = twilio
  // Twilio has no setting for its address.
  const toServer = new (class extends RequestClient {
    request(options) {
      return super.request({ ...options, uri: options.uri.replace('https://api.twilio.com', url) })
    }
  })()
  const client = twilio('AC1', 'key', { httpClient: toServer })
  return (await client.messages.create({ to: '+15005550006', from: '+15005550006', body: 'Hi' })).body
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { '@googleapis/calendar': '20.0.1' },
    use: 'events',
    source: `import { calendar } from '@googleapis/calendar'
export async function answer(url: string) {
  const { data } = await calendar({ version: 'v3', auth: 'key', rootUrl: \`\${url}/\` }).events.list({ calendarId: 'some' })
  return data.items[0].summary
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { nodemailer: '10.6.0' },
    use: 'a message',
    source: `import nodemailer from 'nodemailer'
export async function answer(_url: string, { smtp }) {
  const transport = nodemailer.createTransport(smtp)
  const { accepted } = await transport.sendMail({ from: 'a@a.example', to: 'b@a.example', subject: 'Hi', text: 'Hi', attachments: [{ filename: 'a.txt', content: 'Hi' }] })
  return accepted[0]
}`,
    expects: 'b@a.example',
    note: 'over [connections](node-modules.md#connections)',
  },
  {
    group: 'Services',
    packages: { resend: '6.38.0' },
    use: 'an e-mail',
    source: `import { Resend } from 'resend'
export async function answer(url: string) {
  const { data } = await new Resend('key', { baseUrl: url }).emails.send({ from: 'a@a.example', to: 'b@a.example', subject: 's', text: 't' })
  return data.id
}`,
    expects: heard,
  },
  {
    group: 'Services',
    packages: { 'mailgun.js': '14.0.1', 'form-data': '4.0.6' },
    use: 'a message',
    source: `import Mailgun from 'mailgun.js'
import FormData from 'form-data'
export async function answer(url: string) {
  const client = new Mailgun(FormData).client({ username: 'api', key: 'key', url })
  const { message } = await client.messages.create('a.example', { from: 'a@a.example', to: ['b@a.example'], subject: 's', text: 't' })
  return message
}`,
    expects: heard,
    form: 'node',
    note: '`"packages": "node"` in `isobot.json`',
  },
  {
    group: 'Services',
    packages: { '@aws-sdk/client-s3': '3.1175.0' },
    use: 'an object',
    source: `import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
export async function answer(url: string) {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const client = new S3Client({ region: 'eu-central-1', endpoint: url, forcePathStyle: true, credentials })
  const { ETag } = await client.send(new PutObjectCommand({ Bucket: 'some', Key: 'thing', Body: 'Hi' }))
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'some', Key: 'thing' }))
  return \`\${ETag} \${JSON.parse(await Body.transformToString()).text}\`
}`,
    expects: `"one" ${heard}`,
  },
  {
    group: 'Databases',
    packages: { pg: '8.23.1' },
    use: 'queries of a pool',
    source: `import pg from 'pg'
export async function answer(_url: string, { postgres }) {
  const pool = new pg.Pool({ connectionString: postgres, max: 4 })
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => pool.query('select $1::int * 2 as double', [n])))
  await pool.end()
  return answers.map(({ rows }) => rows[0].double).join(' ')
}`,
    expects: '2 4 6 8 10 12',
    note: 'over [connections](node-modules.md#connections)',
  },
  {
    group: 'Databases',
    packages: { 'drizzle-orm': '0.45.4', pg: '8.23.1' },
    use: 'rows of a table',
    source: `import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { sql } from 'drizzle-orm'
import { Pool } from 'pg'
export async function answer(_url: string, { postgres }) {
  const pool = new Pool({ connectionString: postgres })
  const database = drizzle(pool)
  await database.execute(sql\`create table if not exists words (word text)\`)
  const words = pgTable('words', { word: text('word') })
  await database.insert(words).values({ word: 'this' })
  const [row] = await database.select().from(words)
  await pool.end()
  return row.word
}`,
    expects: 'this',
    note: 'over [connections](node-modules.md#connections)',
  },
  {
    group: 'Databases',
    packages: { ioredis: '6.0.0' },
    use: 'keys and a pipeline',
    source: `import { Redis } from 'ioredis'
export async function answer(_url: string, { redis }) {
  const client = new Redis(redis)
  await client.set('name', 'Ada')
  const answers = await client.pipeline().get('name').strlen('name').exec()
  await client.quit()
  return answers.map(([, value]) => value).join(' ')
}`,
    expects: 'Ada 3',
    note: 'over [connections](node-modules.md#connections)',
  },
  {
    group: 'Databases',
    packages: { redis: '6.3.1' },
    use: 'keys',
    source: `import { createClient } from 'redis'
export async function answer(_url: string, { redis }) {
  const client = await createClient({ url: redis }).connect()
  await client.set('name', 'Grace')
  const answers = [await client.get('name'), await client.strLen('name')]
  await client.close()
  return answers.join(' ')
}`,
    expects: 'Grace 5',
    note: 'over [connections](node-modules.md#connections)',
  },
  {
    group: 'Databases',
    packages: { '@upstash/redis': '1.39.0' },
    use: 'a key',
    source: `import { Redis } from '@upstash/redis'
export async function answer(url: string) {
  return await new Redis({ url, token: 'key' }).get('name')
}`,
    expects: heard,
  },
  {
    group: 'Databases',
    packages: { '@qdrant/js-client-rest': '1.18.0' },
    use: 'its collections',
    source: `import { QdrantClient } from '@qdrant/js-client-rest'
export async function answer(url: string) {
  const client = new QdrantClient({ url, port: Number(new URL(url).port), checkCompatibility: false })
  return (await client.getCollections()).collections[0].name
}`,
    expects: heard,
  },
  {
    group: 'Data',
    packages: { zod: '4.6.7' },
    use: 'an object',
    source: `import { z } from 'zod'
export function answer() {
  return z.object({ a: z.coerce.number() }).parse({ a: '5' }).a
}`,
    expects: '5',
  },
  {
    group: 'Data',
    packages: { joi: '18.3.2' },
    use: 'an object',
    source: `import Joi from 'joi'
export function answer() {
  return Joi.object({ a: Joi.number() }).validate({ a: '5' }).value.a
}`,
    expects: '5',
    form: 'node',
    note: '`"packages": "node"` in `isobot.json`',
  },
  {
    group: 'Data',
    packages: { valibot: '1.5.0' },
    use: 'an object',
    source: `import * as v from 'valibot'
export function answer() {
  return v.parse(v.object({ a: v.string() }), { a: 'yes' }).a
}`,
    expects: 'yes',
  },
  {
    group: 'Data',
    packages: { superstruct: '2.0.2' },
    use: 'an object',
    source: `import { assert, object, string } from 'superstruct'
export function answer() {
  const value = { a: 'yes' }
  assert(value, object({ a: string() }))
  return value.a
}`,
    expects: 'yes',
  },
  {
    group: 'Data',
    packages: { ajv: '8.20.0' },
    use: 'a compiled schema',
    source: `import { Ajv } from 'ajv'
export function answer() {
  return new Ajv().compile({ type: 'number' })(5)
}`,
    expects: 'true',
  },
  {
    group: 'Data',
    packages: { '@cfworker/json-schema': '4.1.6' },
    use: 'a schema',
    source: `import { Validator } from '@cfworker/json-schema'
export function answer() {
  return new Validator({ type: 'number' }).validate(5).valid
}`,
    expects: 'true',
  },
  {
    group: 'Data',
    packages: { lodash: '4.18.1' },
    use: '`groupBy`',
    source: `import lodash from 'lodash'
export function answer() {
  return Object.keys(lodash.groupBy([1, 2, 3], (one) => (one % 2 ? 'odd' : 'even'))).join()
}`,
    expects: 'odd,even',
  },
  {
    group: 'Data',
    packages: { 'lodash-es': '4.18.1' },
    use: '`chunk`',
    source: `import { chunk } from 'lodash-es'
export function answer() {
  return chunk([1, 2, 3], 2).length
}`,
    expects: '2',
  },
  {
    group: 'Data',
    packages: { ramda: '0.32.0' },
    use: 'a pipe',
    source: `import { add, pipe } from 'ramda'
export function answer() {
  return pipe(add(1), add(2))(3)
}`,
    expects: '6',
  },
  {
    group: 'Data',
    packages: { rxjs: '7.8.2' },
    use: 'a pipe',
    source: `import { firstValueFrom, map, of } from 'rxjs'
export function answer() {
  return firstValueFrom(of(2).pipe(map((one) => one * 2)))
}`,
    expects: '4',
  },
  {
    group: 'Data',
    packages: { immer: '11.2.10' },
    use: 'a draft',
    source: `import { produce } from 'immer'
export function answer() {
  return produce({ a: 1 }, (draft) => void draft.a++).a
}`,
    expects: '2',
  },
  {
    group: 'Data',
    packages: { pino: '10.4.0' },
    use: 'a line of a log',
    source: `import pino from 'pino'
export function answer() {
  const lines: string[] = []
  pino({ base: null, timestamp: false }, { write: (line) => lines.push(line) }).info({ some: 'thing' }, 'this')
  return JSON.parse(lines[0]).msg
}`,
    expects: 'this',
    form: 'node',
    note: '`"packages": "node"` in `isobot.json`',
  },
  {
    group: 'Dates and text',
    packages: { 'date-fns': '4.4.0' },
    use: 'a date',
    source: `import { addDays, formatISO } from 'date-fns'
export function answer() {
  return formatISO(addDays(new Date(2026, 0, 31), 1), { representation: 'date' })
}`,
    expects: '2026-02-01',
  },
  {
    group: 'Dates and text',
    packages: { dayjs: '1.11.23' },
    use: 'a date',
    source: `import dayjs from 'dayjs'
export function answer() {
  return dayjs('2026-01-31').add(1, 'day').format('YYYY-MM-DD')
}`,
    expects: '2026-02-01',
  },
  {
    group: 'Dates and text',
    packages: { luxon: '3.7.2' },
    use: 'a date in a zone',
    source: `import { DateTime } from 'luxon'
export function answer() {
  return DateTime.fromISO('2026-01-31T12:00', { zone: 'Asia/Tokyo' }).toUTC().hour
}`,
    expects: '3',
  },
  {
    group: 'Dates and text',
    packages: { i18next: '26.7.2' },
    use: 'a translation',
    source: `import i18next from 'i18next'
export async function answer() {
  await i18next.init({ lng: 'de', resources: { de: { translation: { hi: 'Hallo {{name}}' } } } })
  return i18next.t('hi', { name: 'Ada' })
}`,
    expects: 'Hallo Ada',
  },
  {
    group: 'Dates and text',
    packages: { marked: '18.2.1' },
    use: 'Markdown',
    source: `import { marked } from 'marked'
export function answer() {
  return marked.parseInline('**a**')
}`,
    expects: '<strong>a</strong>',
  },
  {
    group: 'Dates and text',
    packages: { mustache: '4.2.0' },
    use: 'a template',
    source: `import Mustache from 'mustache'
export function answer() {
  return Mustache.render('Hi {{name}}', { name: 'Ada' })
}`,
    expects: 'Hi Ada',
  },
  {
    group: 'Dates and text',
    packages: { handlebars: '4.7.10' },
    use: 'a template',
    source: `import Handlebars from 'handlebars'
export function answer() {
  return Handlebars.compile('Hi {{name}}')({ name: 'Ada' })
}`,
    expects: 'Hi Ada',
  },
  {
    group: 'Dates and text',
    packages: { 'fuse.js': '7.5.0' },
    use: 'a search',
    source: `import Fuse from 'fuse.js'
export function answer() {
  return new Fuse(['apple', 'pear']).search('aple')[0].item
}`,
    expects: 'apple',
  },
  {
    group: 'Formats',
    packages: { pdfkit: '0.20.2' },
    use: 'a document',
    source: `import PDFDocument, { registerStdFonts } from 'pdfkit'
import Helvetica from 'pdfkit/standard-fonts/Helvetica'
registerStdFonts(Helvetica)
export async function answer() {
  const document = new PDFDocument()
  const parts = []
  document.on('data', (part) => parts.push(part))
  document.text('Hi')
  document.end()
  await new Promise((resolve) => document.on('end', resolve))
  return Buffer.concat(parts).subarray(0, 5)
}`,
    expects: '%PDF-',
    note: 'its fonts are modules, as for browsers: `registerStdFonts`',
  },
  {
    group: 'Formats',
    packages: { 'sanitize-html': '2.18.1' },
    use: 'markup',
    source: `import sanitizeHtml from 'sanitize-html'
export function answer() {
  return sanitizeHtml('<b onclick="x">Hi</b><script>y</script>')
}`,
    expects: '<b>Hi</b>',
  },
  {
    group: 'Formats',
    packages: { exceljs: '4.4.0' },
    use: 'a workbook, written and read',
    source: `import ExcelJS from 'exceljs'
export async function answer() {
  const workbook = new ExcelJS.Workbook()
  workbook.addWorksheet('words').addRow(['this', 1])
  const read = new ExcelJS.Workbook()
  await read.xlsx.load(await workbook.xlsx.writeBuffer())
  return read.getWorksheet('words').getCell('A1').value
}`,
    expects: 'this',
  },
  {
    group: 'Formats',
    packages: { docx: '9.15.2' },
    use: 'a document',
    source: `import { Document, Packer, Paragraph } from 'docx'
export async function answer() {
  const bytes = await Packer.toArrayBuffer(new Document({ sections: [{ children: [new Paragraph('this')] }] }))
  return new TextDecoder().decode(bytes.slice(0, 2))
}`,
    expects: 'PK',
  },
  {
    group: 'Formats',
    packages: { unpdf: '1.7.0', 'pdf-lib': '1.17.1' },
    use: 'the text of a document',
    source: `import { extractText, getDocumentProxy } from 'unpdf'
import { PDFDocument } from 'pdf-lib'
export async function answer() {
  const made = await PDFDocument.create()
  made.addPage().drawText('this')
  return (await extractText(await getDocumentProxy(await made.save()), { mergePages: true })).text
}`,
    expects: 'this',
  },
  {
    group: 'Formats',
    packages: { jimp: '1.6.1' },
    use: 'a picture, made smaller',
    source: `import { Jimp } from 'jimp'
export async function answer() {
  const picture = new Jimp({ width: 20, height: 20, color: 0xff0000ff })
  const read = await Jimp.read(await picture.resize({ w: 10, h: 10 }).getBuffer('image/png'))
  return String(read.width)
}`,
    expects: '10',
    form: 'node',
    note: '`"packages": "node"` in `isobot.json`',
  },
  {
    group: 'Formats',
    packages: { cheerio: '1.2.0' },
    use: 'HTML',
    source: `import { load } from 'cheerio'
export function answer() {
  return load('<p>a</p>')('p').text()
}`,
    expects: 'a',
  },
  {
    group: 'Formats',
    packages: { yaml: '2.9.1' },
    use: 'YAML',
    source: `import { parse } from 'yaml'
export function answer() {
  return parse('a: [1, 2]').a.length
}`,
    expects: '2',
  },
  {
    group: 'Formats',
    packages: { papaparse: '5.7.1' },
    use: 'CSV',
    source: `import Papa from 'papaparse'
export function answer() {
  return Papa.parse('a,b\\n1,2', { header: true }).data[0].b
}`,
    expects: '2',
  },
  {
    group: 'Formats',
    packages: { 'fast-xml-parser': '5.12.1' },
    use: 'XML',
    source: `import { XMLParser } from 'fast-xml-parser'
export function answer() {
  return new XMLParser().parse('<a><b>1</b></a>').a.b
}`,
    expects: '1',
  },
  {
    group: 'Formats',
    packages: { sharp: '0.35.5' },
    use: 'an image',
    source: `import sharp from 'sharp'
export function answer() {
  return typeof sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } }).png
}`,
    expects: 'function',
    instead: '`jimp`, or a service that changes images by URL: native code cannot be loaded',
  },
  {
    group: 'Keys and ids',
    packages: { uuid: '14.0.3' },
    use: 'version 4',
    source: `import { v4 } from 'uuid'
export function answer() {
  return v4().length
}`,
    expects: '36',
  },
  {
    group: 'Keys and ids',
    packages: { nanoid: '5.1.16' },
    use: 'an id',
    source: `import { nanoid } from 'nanoid'
export function answer() {
  return nanoid().length
}`,
    expects: '21',
  },
  {
    group: 'Keys and ids',
    packages: { jose: '6.2.17' },
    use: 'a token, signed and verified',
    source: `import { SignJWT, jwtVerify } from 'jose'
export async function answer() {
  const key = new TextEncoder().encode('a key of thirty-two characters!!')
  const token = await new SignJWT({ a: 'yes' }).setProtectedHeader({ alg: 'HS256' }).sign(key)
  return (await jwtVerify(token, key)).payload.a
}`,
    expects: 'yes',
  },
  {
    group: 'Keys and ids',
    packages: { jose: '6.2.17' },
    use: 'a text, encrypted to a public key',
    source: `import { CompactEncrypt, compactDecrypt, generateKeyPair } from 'jose'
export async function answer() {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES')
  const header = { alg: 'ECDH-ES', enc: 'A256GCM' }
  const sealed = await new CompactEncrypt(new TextEncoder().encode('yes')).setProtectedHeader(header).encrypt(publicKey)
  return new TextDecoder().decode((await compactDecrypt(sealed, privateKey)).plaintext)
}`,
    expects: 'yes',
  },
  {
    group: 'Keys and ids',
    packages: { '@block65/webcrypto-web-push': '2.0.0' },
    use: 'a message of Web Push, encrypted and signed',
    source: `import { buildPushPayload } from '@block65/webcrypto-web-push'
const base64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
export async function answer() {
  const makeKeys = (name: string, usages: string[]) => crypto.subtle.generateKey({ name, namedCurve: 'P-256' }, true, usages)
  const [mine, browser] = [await makeKeys('ECDSA', ['sign', 'verify']), await makeKeys('ECDH', ['deriveBits'])]
  const rawOf = async (key: CryptoKey) => base64Url(new Uint8Array(await crypto.subtle.exportKey('raw', key)))
  const keys = { p256dh: await rawOf(browser.publicKey), auth: base64Url(crypto.getRandomValues(new Uint8Array(16))) }
  const subscription = { endpoint: 'https://push.example/1', expirationTime: null, keys }
  const { d } = await crypto.subtle.exportKey('jwk', mine.privateKey)
  const vapid = { subject: 'mailto:bot@example.com', publicKey: await rawOf(mine.publicKey), privateKey: d }
  const { headers } = await buildPushPayload({ data: 'Hi' }, subscription, vapid)
  return headers['content-encoding']
}`,
    expects: 'aes128gcm',
  },
  {
    group: 'Keys and ids',
    packages: { jsonwebtoken: '9.0.3' },
    use: 'a token, signed and verified',
    source: `import jwt from 'jsonwebtoken'
export function answer() {
  return jwt.verify(jwt.sign({ a: 'yes' }, 'key'), 'key').a
}`,
    expects: 'yes',
  },
  {
    group: 'Keys and ids',
    packages: { jsonwebtoken: '9.0.3' },
    use: 'a token, signed by a key with a passphrase',
    source: `import { generateKeyPairSync } from 'node:crypto'
import jwt from 'jsonwebtoken'
export function answer() {
  const { publicKey, privateKey: key } = generateKeyPairSync('ec', {
    namedCurve: 'P-521',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'word' },
  })
  return jwt.verify(jwt.sign({ a: 'yes' }, { key, passphrase: 'word' }, { algorithm: 'ES512' }), publicKey).a
}`,
    expects: 'yes',
  },
  {
    group: 'Keys and ids',
    packages: { 'web-push': '3.6.7' },
    use: 'a message of Web Push',
    source: `import { createECDH, randomBytes } from 'node:crypto'
import webPush from 'web-push'
export function answer() {
  const browser = createECDH('prime256v1')
  const keys = { p256dh: browser.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') }
  const vapidDetails = { subject: 'mailto:bot@example.com', ...webPush.generateVAPIDKeys() }
  return webPush.generateRequestDetails({ endpoint: 'https://push.example/1', keys }, 'Hi', { vapidDetails }).body.length
}`,
    expects: '105',
  },
  {
    group: 'Keys and ids',
    packages: { '@simplewebauthn/server': '14.0.3' },
    use: 'options for a passkey',
    source: `import { generateAuthenticationOptions } from '@simplewebauthn/server'
export async function answer() {
  return (await generateAuthenticationOptions({ rpID: 'bot.example' })).rpId
}`,
    expects: 'bot.example',
  },
  {
    group: 'Keys and ids',
    packages: { '@apple/app-store-server-library': '3.1.0' },
    use: 'a token',
    source: `import { generateKeyPairSync } from 'node:crypto'
import { AppStoreServerAPIClient, Environment } from '@apple/app-store-server-library'
export function answer() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return new AppStoreServerAPIClient(key, 'key', 'issuer', 'bundle', Environment.SANDBOX).createBearerToken().split('.').length
}`,
    expects: '3',
  },
  {
    group: 'Keys and ids',
    packages: { 'redsys-easy': '5.3.2' },
    use: 'a signed form',
    source: `import { createRedsysAPI, SANDBOX_URLS } from 'redsys-easy'
export function answer() {
  const api = createRedsysAPI({ secretKey: 'sq7HjrUOBfKmC576ILgskD5srU870gJ7', urls: SANDBOX_URLS })
  const order = { DS_MERCHANT_ORDER: '1234abcd', DS_MERCHANT_AMOUNT: '100', DS_MERCHANT_CURRENCY: '978' }
  const merchant = { DS_MERCHANT_MERCHANTCODE: '999008881', DS_MERCHANT_TERMINAL: '1', DS_MERCHANT_TRANSACTIONTYPE: '0' }
  return api.createRedirectForm({ ...merchant, ...order }).body.Ds_SignatureVersion
}`,
    expects: 'HMAC_SHA256_V1',
  },
  {
    group: 'Keys and ids',
    packages: { openpgp: '6.3.2' },
    use: 'a text, encrypted to a public key',
    source: `import { createMessage, decrypt, encrypt, generateKey, readMessage } from 'openpgp'
export async function answer() {
  const person = { name: 'Some', email: 'some@example.com' }
  const { privateKey, publicKey } = await generateKey({ userIDs: [person], format: 'object' })
  const armoredMessage = await encrypt({ message: await createMessage({ text: 'yes' }), encryptionKeys: publicKey })
  return (await decrypt({ message: await readMessage({ armoredMessage }), decryptionKeys: privateKey })).data
}`,
    expects: 'yes',
  },
  {
    group: 'Keys and ids',
    packages: { tweetnacl: '1.0.3' },
    use: 'a signature',
    source: `import nacl from 'tweetnacl'
export function answer() {
  const { publicKey, secretKey } = nacl.sign.keyPair()
  return nacl.sign.detached.verify(Uint8Array.of(1), nacl.sign.detached(Uint8Array.of(1), secretKey), publicKey)
}`,
    expects: 'true',
  },
  {
    group: 'Keys and ids',
    packages: { 'crypto-js': '4.2.0' },
    use: 'a hash and a cipher',
    source: `import CryptoJS from 'crypto-js'
export function answer() {
  const encrypted = CryptoJS.AES.encrypt('yes', 'key').toString()
  return CryptoJS.AES.decrypt(encrypted, 'key').toString(CryptoJS.enc.Utf8)
}`,
    expects: 'yes',
  },
  {
    group: 'Keys and ids',
    packages: { '@noble/hashes': '2.4.0' },
    use: 'SHA-256',
    source: `import { sha256 } from '@noble/hashes/sha2.js'
export function answer() {
  return sha256(new Uint8Array()).length
}`,
    expects: '32',
  },
]
