/** Values that tests and the local documentation replace by those of their stack, account or day. */
export const placeholders = {
  user: '27821234567',
  bot: '27820000001',
  day: '2026-11-20',
  userId: '5b1f6c9e-7a43-4c0e-9f57-2f0d3c1e8a64',
  job: '019a9f5e-2c11-7d3a-9a51-6f0a7c3e8b10',
  encodedToken: 'dGhlLXRva2VuLWluLWJhc2U2NHVybA',
  media: 'https://bridge.example.com/media/5f0c2f6f2d8f4a1e9b7a3c4d5e6f7081',
  profiler: '019a9f5e-2c12-7c55-8d1e-0b6f3c2a9d41',
  tea: 'e219fd56-cfe6-868e-b6d1-3078df9e0000',
  coffee: 'e219fd56-cfe6-868e-b6d1-3078df9e0001',
  message: '019a9f5e-2c13-7a2b-b4c5-d6e7f8091a2b',
  request: '019a9f5e-2c14-7b3c-85d6-e7f8091a2b3c',
  formerName: 'Acme',
  name: 'Acme Research',
  delivery: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e-0a019a9f5e2c18',
  event: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e',
  offered: '019a9f5e-2c19-7182-9a3b-4c5d6e7f8091',
  claim:
    'cGxhdGZvcm0gMjc4MjEyMzQ1NjcgMDE5YTlmNWUtMmMxOS03MTgyLTlhM2ItNGM1ZDZlN2Y4MDkxIDAxOWE5ZjVlLTJjMWEtNzI5My1hYjRjLTVkNmU3ZjgwOTFhMg',
  otherUser: '27827654321',
  time: '2026-11-20T09:58:09.118000',
};
