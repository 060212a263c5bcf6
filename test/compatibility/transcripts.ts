import type { ScriptedAnswers } from '../../cli/dry-run/answers.ts'

/**
 * Conversations with the public templates of v12, as the original holds them. They were made by reading the flows: each reply is
 * named by the content element, or by the question (`qna:`), that it comes from.
 */
export interface Transcript {
  secrets?: Record<string, string>
  answers?: ScriptedAnswers
  turns: Turn[]
}

export interface Turn {
  /** A text, or the first question of an item of Q&A. */
  say: string | { question: string }
  hears: string[]
  /** The replies here, where the report names a difference. */
  here?: string[]
}

const turn = (say: Turn['say'], ...hears: string[]): Turn => ({ say, hears })

const greeting = ['builtin_text-0xvGfV', 'builtin_text-RvPCjo', 'builtin_text-CAyqet']
const suggestion = 'builtin_single-choice-3TrCWM'
const fallback = ['builtin_text-5qjreV', 'builtin_text-MgRwhE', suggestion]
const photos = 'https://api.nasa.gov/mars-photos/api/v1/rovers/curiosity/photos?api_key=DEMO_KEY&earth_date='

const topics = ['builtin_text-lbs0Re', 'builtin_single-choice-mrFFU_']
const goodbye = 'builtin_text--icAL0'

const weather = {
  name: 'Montreal',
  sys: { country: 'CA' },
  main: { temp: 21 },
  weather: [{ description: 'clear' }],
}
const weatherOf = (city: string) =>
  `http://api.openweathermap.org/data/2.5/weather?q=${city}&units=metric&appid=the-key`

/** By the id of the bot. */
export const transcripts: Record<string, Transcript[]> = {
  'empty-bot': [{ turns: [turn('hi'), turn('hi')] }],
  'learn-botpress': [
    {
      answers: {
        fetch: {
          [`${photos}2015-09-09`]: { body: { photos: [{ img_src: 'https://mars.example/1.jpg' }] } },
          [`${photos}2015-09-10`]: { body: { photos: [] } },
        },
      },
      turns: [
        turn('good evening', ...greeting, suggestion),
        turn('No, test out the NLU first', 'builtin_text-2sVPOP'),
        turn('zzz', 'builtin_text-eOp9PY', suggestion),
        turn('yes, show me pictures', 'builtin_text-g69lJz'),
        turn('2015-09-09', 'builtin_image-QfbmGN', 'builtin_text-Un0j09', suggestion),
        turn('1', 'builtin_text-g69lJz'),
        turn('2015-09-10', 'builtin_text-hKKZUd', 'builtin_text-g69lJz'),
      ],
    },
    {
      turns: [
        turn({ question: 'ibxc7727um' }, 'qna:ibxc7727um'),
        turn('good evening', ...greeting, suggestion),
        // The original does not answer questions within a flow, and does not repeat the choice.
        { say: { question: '5477wmg2qo' }, hears: [], here: [suggestion] },
        { say: 'zzz', hears: [], here: [suggestion] },
        { say: 'zzz', hears: [], here: [suggestion] },
        turn('zzz', ...fallback),
      ],
    },
  ],
  'small-talk': [
    {
      turns: [
        turn({ question: 'rkmsylph53' }, 'qna:rkmsylph53'),
        turn({ question: '0xbmxyusvu' }, 'qna:0xbmxyusvu'),
        turn('qwertz', 'builtin_text-iVBzXn'),
        turn({ question: 'uqvj6jdj32' }, 'qna:uqvj6jdj32'),
      ],
    },
  ],
  'welcome-bot': [
    {
      turns: [
        turn('qwertz', ...topics),
        turn('What is Bot Memory?', 'builtin_text-sRxAPP', 'builtin_text-z0J9qh'),
        turn('Ada', 'builtin_text-pSsHWg', 'builtin_text-AY5SSW', 'builtin_text-X069Le', goodbye),
        turn('qwertz', ...topics),
        turn('memory', 'builtin_text-sRxAPP', 'builtin_text-pSsHWg', 'builtin_text-bFsOmf', goodbye),
        turn('qwertz', ...topics),
        turn('1', 'builtin_text-6RY1f5', 'builtin_single-choice-yOBfeA'),
        turn('monkey', 'builtin_text-lALv5x', 'builtin_text-yFOIFD', goodbye),
        turn({ question: 'pgedex03mc' }, 'qna:pgedex03mc'),
      ],
    },
    {
      turns: [
        turn('qwertz', ...topics),
        { say: 'zebra', hears: [], here: ['builtin_single-choice-mrFFU_'] },
        turn('context', 'builtin_text-6RY1f5', 'builtin_single-choice-yOBfeA'),
      ],
    },
  ],
  wbot: [
    {
      secrets: { SECRET_CONFIG_EXAMPLES: '{"openWeatherApiKey":"the-key"}' },
      answers: {
        fetch: { [weatherOf('montreal')]: { body: weather }, [weatherOf('london,uk')]: { body: weather } },
      },
      turns: [
        turn('hi', 'builtin_text-tC53zN', 'builtin_text-L93Kxj'),
        turn('montreal', 'builtin_text-2ARQI7', 'builtin_text-0LD-Ry'),
        turn('london,uk', 'builtin_text-2ARQI7', 'builtin_text-0LD-Ry'),
      ],
    },
  ],
}
