import type { Infer } from '../schema.ts'
import { incomplete } from './together.ts'

/** The stores of file contents. */
export const storeNames = ['postgres', 's3'] as const

export type StoreName = (typeof storeNames)[number]

/** A bucket of an S3-compatible object store. */
export interface S3Settings {
  bucket: string
  /** Without a trailing slash. */
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

export const s3Variables = {
  S3_BUCKET: { type: 'string', pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$' },
  S3_ENDPOINT: { type: 'string', pattern: '^https?://' },
  S3_REGION: { type: 'string', pattern: '^[\\w-]{1,64}$', default: 'us-east-1' },
  S3_ACCESS_KEY_ID: { type: 'string', pattern: '^[\\x21-\\x7e]+$' },
  S3_SECRET_ACCESS_KEY: { type: 'string', pattern: '^[\\x21-\\x7e]+$' },
  FILE_STORE: { type: 'string', enum: storeNames },
} as const

export const s3Remedies: Record<string, string> = {
  S3_BUCKET: 'set it to the name of a bucket, or unset it to keep the contents of files in PostgreSQL',
  S3_ENDPOINT: 'set it to the address of the object store, for instance https://s3.example.com',
  S3_REGION: 'set it to the region of the bucket, for instance eu-central-1, or auto',
  FILE_STORE: 'set it to postgres, or to s3 with a bucket; unset it for s3 where a bucket is set',
}

const schema = { type: 'object', required: [], properties: s3Variables } as const

type Given = Partial<Infer<typeof schema>>

/** The settings; absent without a bucket. Without an endpoint the bucket is one of Amazon S3. */
export function readS3(given: Given): { s3?: S3Settings } {
  const { S3_BUCKET: bucket, S3_REGION: region = 'us-east-1', S3_ENDPOINT: endpoint } = given
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = given
  if (!bucket || !accessKeyId || !secretAccessKey) return {}
  const address = endpoint ?? `https://s3.${region}.amazonaws.com`
  return { s3: { bucket, endpoint: address.replace(/\/+$/, ''), region, accessKeyId, secretAccessKey } }
}

/** The store of new contents. Without FILE_STORE it is the bucket, where there is one. */
export function storeOfNewContents(given: Given): StoreName {
  return given.FILE_STORE ?? (readS3(given).s3 ? 's3' : 'postgres')
}

/** One sentence when settings that belong together are incomplete. */
export function s3Contradictions(given: Given): string[] {
  if (given.FILE_STORE === 's3' && given.S3_BUCKET === undefined)
    return ['FILE_STORE is s3 without S3_BUCKET: set both']
  return incomplete(given, ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'])
}
