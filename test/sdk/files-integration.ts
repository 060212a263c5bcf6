import { Integration } from '@botpress/sdk'

interface Transfer {
  fileKey: string
  shouldIndex?: boolean
  content: string
}

/** Passes texts of another service on to the Files API, in both ways in which public integrations do it. */
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
  },
  channels: {},
})

interface FilesClient {
  uploadFile(input: object): Promise<{ file: { id: string } }>
  upsertFile(input: object): Promise<{ file: { id: string; uploadUrl: string } }>
}

export default integration
