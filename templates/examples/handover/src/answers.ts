/** The answers of the bot, with the words by which it knows their questions. */
export const answers: { words: RegExp; answer: string }[] = [
  { words: /\b(open|close|hours)\b/i, answer: 'We are open on weekdays from 9 to 5.' },
  { words: /\b(delivery|shipping)\b/i, answer: 'The delivery costs nothing from 30 €, and 4 € otherwise.' },
  { words: /\b(return|refund)/i, answer: 'Return articles within 30 days, with the label in the parcel.' },
]

/** Words by which users ask for a person. */
export const personWords = /\b(person|human|agent|somebody|someone)\b/i
