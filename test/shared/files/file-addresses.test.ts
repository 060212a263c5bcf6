import { expect, test } from 'vitest'
import { contentAddress, readSignedAddress, uploadAddress } from '#shared/files/file-addresses.ts'

const config = {
  secret: { current: 'a secret of at least thirty-two characters' },
  http: { port: 0, baseUrl: 'https://bots.example' },
}
const file = { id: 'file_1', key: 'a/b.txt', generation: 3, public_id: 'random', access_policies: [] as string[] }
const tokenOf = (address: string) => new URL(address).pathname.split('/')

test('an upload address holds file and generation, and is not valid for anything else', () => {
  const [, files, upload, token = ''] = tokenOf(uploadAddress(config, { fileId: 'file_1', generation: 3 }))
  expect([files, upload]).toEqual(['files', 'upload'])
  const read = readSignedAddress(config, 'upload', token)
  expect(read).toMatchObject({ fileId: 'file_1', generation: 3 })
  expect(read!.expiresAt.getTime() - Date.now()).toBeGreaterThan(23 * 3600 * 1000)
  expect(readSignedAddress(config, 'content', token)).toBeUndefined()
})

test('an address that is changed in any character, or signed with another secret, is not valid', () => {
  const [, , , token = ''] = tokenOf(uploadAddress(config, { fileId: 'file_1', generation: 3 }))
  for (let index = 0; index < token.length; index += 1) {
    const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
    expect(readSignedAddress(config, 'upload', changed)).toBeUndefined()
  }
  const another = 'another secret of thirty-two characters'
  expect(readSignedAddress({ secret: { current: another } }, 'upload', token)).toBeUndefined()
  const replaced = { current: another, accepted: config.secret.current }
  expect(readSignedAddress({ secret: replaced }, 'upload', token)).toMatchObject({ fileId: 'file_1' })
  for (const odd of ['', '.', '....', 'u.file_1.3.zzz', `${token}é`]) {
    expect(readSignedAddress(config, 'upload', odd)).toBeUndefined()
  }
})

test('a private content has a signed address for an hour, a public one its random permanent address', () => {
  const [, , token = '', name] = tokenOf(contentAddress(config, file))
  expect(name).toBe('b.txt')
  const { expiresAt, ...said } = readSignedAddress(config, 'content', token)!
  expect(said).toEqual({ fileId: 'file_1', generation: 3 })
  expect(Math.round((expiresAt.getTime() - Date.now()) / 60_000)).toBe(60)
  const open = { ...file, access_policies: ['integrations', 'public_content'] }
  expect(contentAddress(config, open)).toBe('https://bots.example/files/random/b.txt')
})

const nameOf = (key: string) => tokenOf(contentAddress(config, { ...file, key })).at(-1)

test('the address ends in the last segment of any key', () => {
  expect(nameOf('data_source://web/é %?.html')).toBe('%C3%A9%20%25%3F.html')
  expect(['a/', 'a/.', '..', 'a/%2e%2e'].map(nameOf)).toEqual(['file', 'file', 'file', '%252e%252e'])
  expect(nameOf('half \ud800')).toBe('half%20%EF%BF%BD')
})
