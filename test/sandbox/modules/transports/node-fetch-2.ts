import FormData from 'form-data'
import fetch from 'node-fetch-2'
import { casesOf } from './node-fetch.ts'

export const client = casesOf(fetch, () => {
  const body = new FormData()
  body.append('file', Buffer.from('file contents'), { filename: 'a.txt' })
  return { body, headers: body.getHeaders() }
})
