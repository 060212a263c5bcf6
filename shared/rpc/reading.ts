/** The input field of operations that record readings (`recordedReading`). */
export const readingInput = {
  reading: {
    type: 'string',
    maxLength: 100,
    description: 'The `reading` of an earlier answer, for further pages and for news: the audit log has one reading.',
  },
} as const

/** The output field of operations that record readings; the platform sets it. */
export const readingOutput = {
  reading: {
    type: 'string',
    description: 'The id of the audit record of this reading, signed for the filters where there are any.',
  },
} as const
