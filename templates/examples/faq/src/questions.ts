/** The questions that the bot can answer, and their answers. */
export const questions: { question: string; answer: string }[] = [
  { question: 'When are you open?', answer: 'On weekdays from 9 to 5. On public holidays we are closed.' },
  { question: 'What does the delivery cost?', answer: 'Nothing from 30 €; 4 € otherwise.' },
  { question: 'How do I return an article?', answer: 'Within 30 days, with the label in the parcel.' },
]
