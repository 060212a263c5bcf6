import axios from 'axios-1.4'
import { casesWithStreams } from './axios-streams.ts'

export const client = casesWithStreams(axios)
