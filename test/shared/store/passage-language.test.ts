import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { openDatabase, type Database } from '#shared/store/database.ts'
import { languageOf } from '#shared/store/passage-language.ts'
import { insertPassages, type NewPassage } from '#shared/store/passages.ts'
import { searchPassages } from '#shared/store/search-passages.ts'
import { createDatabase, type TestDatabase } from '../../support/databases.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase({ url: database.url, poolSize: 3, allowSelfSigned: false })
  await db('workspaces').insert({ id: 'wkspace_1', name: 'w' })
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

const passage = (text: string, subtype = 'paragraph'): NewPassage => ({ subtype, text, breadcrumb: [] })

const linesOf = (text: string) => Array.from(text.trim().split('\n'), (line) => line.trim())

/** A bot with a file of each text, whose passages are its lines. */
async function botWith(...texts: string[]): Promise<string> {
  const botId = newId('bot')
  await db('bots').insert({ id: botId, workspace_id: 'wkspace_1', name: 'b' })
  for (const text of texts) {
    const id = newId('file')
    const columns = { bot_id: botId, key: id, content_type: 'text/plain', status: 'indexing_completed' }
    await db('files').insert({ id, ...columns } as object)
    const passages = linesOf(text).map((line) => passage(line))
    const language = await languageOf(db, passages)
    await insertPassages(db, { fileId: id, botId, generation: 0, first: 0, language }, passages)
  }
  return botId
}

async function found(botId: string, query: string): Promise<string[]> {
  const passages = await searchPassages(db, { botId }, { query, tags: [], limit: 10 })
  return passages.map(({ text }) => text)
}

const german = `
  Die Rückgabe ist bei uns innerhalb von dreißig Tagen möglich, wenn die Ware nicht benutzt wurde.
  Bei Rückgaben aus dem Ausland tragen Sie die Kosten des Versandes selbst.
  Unsere Geschäfte sind an Werktagen von neun bis siebzehn Uhr für Sie geöffnet.`
const spanish = `
  La devolución del producto es posible durante los treinta días que siguen a la compra.
  Las devoluciones desde el extranjero las paga el cliente, y nosotros pagamos las demás.
  Nuestras tiendas están abiertas de nueve a cinco todos los días laborables.`
const portuguese = `
  A devolução do produto é possível nos trinta dias que se seguem à compra na nossa loja.
  As devoluções do estrangeiro são pagas pelo cliente, e nós pagamos todas as outras.
  As nossas lojas estão abertas das nove às cinco em todos os dias úteis.`
const french = `
  Le remboursement est possible pendant les trente jours qui suivent votre achat.
  Les remboursements depuis l’étranger sont à la charge du client, les autres sont gratuits.
  Nos magasins sont ouverts de neuf heures à cinq heures tous les jours ouvrables.`
const russian = `
  Возврат товара возможен в течение тридцати дней после покупки в нашем магазине.
  При возврате товаров из-за границы покупатель сам оплачивает доставку.
  Наши магазины открыты с девяти до пяти во все рабочие дни недели.`
const english = `
  Returns are possible within thirty days of the purchase, if the goods were not used.
  A return from another country is paid by the customer, and all the others by us.
  Our shops are open from nine to five on all working days of the week.`

describe('a word is found in its other forms, also beside passages with the same form', () => {
  test.each([
    ['German', german, 'Rückgaben'],
    ['German', german, 'Ruckgabe'],
    ['Spanish', spanish, 'devolución'],
    ['Spanish', spanish, 'devoluciones'],
    ['Portuguese', portuguese, 'devoluções'],
    ['French', french, 'remboursements'],
    ['Russian', russian, 'возврата'],
    ['English', english, 'returning'],
  ])('in %s', async (_language, text, word) => {
    const botId = await botWith(text)
    expect(new Set(await found(botId, word))).toEqual(new Set(linesOf(text).slice(0, 2)))
  })
})

test('a word without its accents is found in the form in which it is written', async () => {
  const botId = await botWith(spanish, portuguese)
  await expect(found(botId, 'devolucion')).resolves.toContain(linesOf(spanish)[0])
  await expect(found(botId, 'devolucao')).resolves.toContain(linesOf(portuguese)[0])
})

test('words of a question that say little are left out, with and without their accents', async () => {
  const botId = await botWith(spanish)
  const scores = async (query: string) =>
    (await searchPassages(db, { botId }, { query, tags: [], limit: 1 })).map(({ score }) => score.toFixed(2))
  await expect(scores('¿quién paga las devoluciones del extranjero?')).resolves.toEqual(['1.00'])
  await expect(scores('quien paga las devoluciones del extranjero')).resolves.toEqual(['1.00'])
})

test('a bot with files in many languages finds the passages in the language of the question first', async () => {
  const botId = await botWith(german, spanish, portuguese, french, russian, english)
  const questions = {
    'Wann sind die Geschäfte geöffnet?': german,
    '¿Cuándo abren las tiendas?': spanish,
    'Quando abrem as lojas?': portuguese,
    'Quand les magasins ouvrent-ils ?': french,
    'Когда открыт ваш магазин?': russian,
    'When does the shop open?': english,
  }
  for (const [question, text] of Object.entries(questions)) {
    const [first] = await found(botId, question)
    expect({ question, first }).toEqual({ question, first: linesOf(text)[2] })
  }
})

describe('the language of a file', () => {
  test.each([
    ['german', [passage(german)]],
    ['spanish', [passage(spanish)]],
    ['portuguese', [passage(portuguese)]],
    ['french', [passage(french)]],
    ['russian', [passage(russian)]],
    [
      'greek',
      [
        passage(
          'Η επιστροφή του προϊόντος είναι δυνατή μέσα σε τριάντα ημέρες από την αγορά, αν το προϊόν δεν έχει χρησιμοποιηθεί.',
        ),
      ],
    ],
    [
      'romanian',
      [
        passage(
          'Returnarea produsului este posibilă în termen de treizeci de zile de la cumpărare, dacă produsul nu a fost folosit.',
        ),
      ],
    ],
    ['that of English', [passage(english)], null],
    ['that of English for a short text', [passage('Öffnungszeiten: Mo bis Fr 9–17')], null],
    ['that of English without a text', [], null],
    ['that of English for code', [passage('for (let i = 0; i < n; i += 1) sum += values[i] '.repeat(9), 'code')], null],
    [
      'that of English for a language that PostgreSQL does not know',
      [
        passage(
          'Zwrot towaru jest możliwy w ciągu trzydziestu dni od zakupu w naszym sklepie, jeśli towar nie był używany. '.repeat(
            3,
          ),
        ),
      ],
      null,
    ],
    [
      'that of English for a list of codes',
      [passage(Array.from({ length: 200 }, (_, index) => `w${(index * 48_271 * 7919).toString(36)}`).join(' '))],
      null,
    ],
    [
      'that of English for a list of names',
      [
        passage(
          'Joris van Dijk, Anneke Smit, Pieter Jansen, Sanne Visser, Bram Mulder, Femke Bakker, Koen Meijer, Lotte Peters',
        ),
      ],
      null,
    ],
    ['that of English for numbers and marks', [passage('1234 5678 ==== '.repeat(500))], null],
    [
      'that of most of its beginning',
      [passage('x = 1', 'code'), passage(german), passage(english.slice(0, 90))],
      'german',
    ],
  ])('is %s', async (name, passages, expected: string | null = name) => {
    await expect(languageOf(db, passages)).resolves.toBe(expected)
  })

  test('is looked for in the beginning of a long text only', async () => {
    const passages = Array.from({ length: 200 }, () => passage(german.repeat(500)))
    await expect(languageOf(db, passages)).resolves.toBe('german')
  })
})
