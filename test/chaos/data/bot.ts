/** Files and rows that a conversation leaves behind: as many of each are used again and again. */
export const slots = 3
/** Rows of a conversation before this many of its last ones are deleted. */
export const keptRows = 5

/** The tables of the bot, which its conversations share. */
export const tables = {
  /** One row for each slot of a conversation, with the number of the last text that used it. */
  latest: { name: 'latestTable', keyColumn: 'slot', columns: { slot: 'string', number: 'number' } },
  /** One row for each text, of which only the last ones are kept. */
  heard: { name: 'heardTable', columns: { conversation: 'string', number: 'number' } },
} as const

/** The content of a file, of 1 to 21 KB. Runs here and, as text, in the bot. */
export function contentOf(conversation: string, number: number): string {
  const line = `The conversation ${conversation} has heard the text ${number}.\n\n`
  return `# Text ${number}\n\n${line.repeat(10 + (number % 13) * 15)}`
}

/** Whether the file of a text is indexed. Runs in both places too. */
export function isIndexed(number: number): boolean {
  return number % 4 === 0
}

/** The key of the file of a slot. Runs in both places too. */
export function keyOf(conversation: string, slot: number): string {
  return `${conversation}/${slot}.md`
}

/** Stores files and rows for the text of this number. Only in the bot. */
export const storingCode = `
  const slots = ${slots}
  const keptRows = ${keptRows}
  ${String(contentOf)}
  ${String(isIndexed)}
  ${String(keyOf)}

  async function upload(client, key, content, index) {
    for (let tries = 1; ; tries += 1) {
      const { file } = await client.upsertFile({ key, size: content.length, index, contentType: 'text/markdown' })
      const status = await fetch(file.uploadUrl, { method: 'PUT', body: content }).then(
        (answer) => answer.status,
        (error) => error.message,
      )
      if (status === 200) return
      if (tries === 20) throw new Error('The content of ' + key + ' was answered ' + status)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }

  async function store(client, conversation, number) {
    const slot = number % slots
    await client.upsertTableRows({
      table: 'latestTable', keyColumn: 'slot', rows: [{ slot: conversation + ' ' + slot, number }],
    })
    await client.createTableRows({ table: 'heardTable', rows: [{ conversation, number }] })
    await upload(client, keyOf(conversation, slot), contentOf(conversation, number), isIndexed(number))
    if (number % keptRows > 0) return
    const filter = { conversation, number: { $lte: number - keptRows } }
    await client.deleteTableRows({ table: 'heardTable', filter })
  }`

/** The rows and files of a conversation after this number of texts. */
export function leftBy(conversation: string, texts: number) {
  const numbers = Array.from({ length: texts }, (_, index) => index + 1)
  const latest = numbers.slice(-slots)
  const deleted = Math.max(0, Math.floor(texts / keptRows) * keptRows - keptRows)
  return {
    latest: latest.map((number) => ({ slot: `${conversation} ${number % slots}`, number })),
    heard: numbers.filter((number) => number > deleted),
    files: latest.map((number) => ({
      key: keyOf(conversation, number % slots),
      content: Buffer.from(contentOf(conversation, number)),
      isIndexed: isIndexed(number),
    })),
  }
}
