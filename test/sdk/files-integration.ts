import { Integration } from '@botpress/sdk'

interface Transfer {
  fileKey: string
  shouldIndex?: boolean
  content: string
}

/** Passes texts and rows of another service on to the platform, in the ways in which public integrations do it. */
const integration = new Integration({
  async register() {},
  async unregister() {},
  async handler() {},
  actions: {
    async transferFileToBotpress({ client, input }: { client: FilesClient; input: Transfer }) {
      const { fileKey: key, shouldIndex: index, content } = input
      const { file } = await client.uploadFile({ key, content, index })
      return { botpressFileId: file.id }
    },
    /** The size is not known in advance, and the content has a type of its own. */
    async streamFileToBotpress({ client, input }: { client: FilesClient; input: Transfer }) {
      const { fileKey: key, content } = input
      const { file } = await client.upsertFile({ key, size: 0, contentType: 'text/csv' })
      const { ok } = await fetch(file.uploadUrl, {
        method: 'PUT',
        body: content,
        headers: { 'content-type': 'text/csv' },
      })
      return { botpressFileId: file.id, ok }
    },
    /** The client of the SDK names no operation of tables: integrations take the one beneath it. */
    async fillTable({ client: { _inner: client }, input }: { client: { _inner: TablesClient }; input: FilledTable }) {
      const { table, rows } = input
      const schema = { type: 'object', properties: { product: { type: 'string' }, stock: { type: 'number' } } }
      const { created } = await client.getOrCreateTable({ table, schema })
      await client.deleteTableRows({ table, deleteAllRows: true })
      await client.createTableRows({ table, rows })
      const found = await client.findTableRows({ table, filter: { stock: { $gt: 1 } } })
      return { created, products: found.rows.map(({ product }) => product as string) }
    },
  },
  channels: {},
})

interface FilledTable {
  table: string
  rows: { product: string; stock: number }[]
}

interface TablesClient {
  getOrCreateTable(input: object): Promise<{ created: boolean }>
  deleteTableRows(input: object): Promise<object>
  createTableRows(input: object): Promise<object>
  findTableRows(input: object): Promise<{ rows: Record<string, unknown>[] }>
}

interface FilesClient {
  uploadFile(input: object): Promise<{ file: { id: string } }>
  upsertFile(input: object): Promise<{ file: { id: string; uploadUrl: string } }>
}

export default integration
