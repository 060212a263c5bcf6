import fetch, { File, FormData } from 'node-fetch'
import { casesOf } from './node-fetch.ts'

export const client = casesOf(fetch, () => {
  const body = new FormData()
  body.append('file', new File(['file contents'], 'a.txt'))
  return { body }
})
