/** Texts of the view Surveys. */
import { counted, figure } from '../../web/figures.ts';

export const surveys = {
  intro:
    'A survey is one question with options. Your software asks people who take part in research, and records their answers here.',
  back: 'Surveys',
  create: 'New survey',
  countAudience: 'Count people',
  list: {
    caption: 'Surveys, newest first',
    title: 'All surveys',
    find: 'Find a survey',
    findHint: 'A word of its question or of an option.',
    question: 'Question',
    created: 'Created',
    answers: 'Answers',
    options: (texts: string[]) =>
      texts.length > 6
        ? `${texts.slice(0, 5).join(', ')} and ${figure(texts.length - 5)} more`
        : texts.slice(0, 6).join(', '),
    counting: 'Counting …',
    notCounted: 'unknown',
    empty: 'You have no surveys yet. Create one: a question, and at least two options.',
    nothingFound: (text: string) => `No survey contains “${text}”.`,
    showAll: 'Show all surveys',
  },
  form: {
    title: 'New survey',
    content: 'Question and options',
    question: 'Question',
    questionHint: 'What people are asked. It cannot be changed later.',
    options: 'Options',
    optionsHint:
      'At least two. Capital letters become small ones. Press Enter for the next option, or paste several lines.',
    option: (number: number) => `Option ${number}`,
    add: 'Add an option',
    up: (name: string) => `Move ${name} up`,
    down: (name: string) => `Move ${name} down`,
    remove: (name: string) => `Remove ${name}`,
    moved: (name: string, place: number, of: number) => `${name} is now number ${place} of ${of}.`,
    removed: (name: string) => `${name} is removed.`,
    submit: 'Create the survey',
    working: 'Creating …',
    noQuestion: 'Enter a question.',
    tooFew: 'Enter at least two options that differ in more than capital letters.',
    same: (number: number) => `The same as option ${number}: people would see it once.`,
    created: 'The survey is created.',
    preview: 'How it reads',
    previewEmpty: 'Your question',
  },
  one: {
    loading: 'Survey',
    results: 'Results',
    live: 'Refreshes by itself',
    totalUnit: (count: number) => (count === 1 ? 'answer' : 'answers'),
    noAnswers: 'No answers yet. They appear here a few seconds after your software has recorded them.',
    barsCaption: 'Answers to each option, with their share of all answers',
    allOptions: (count: number) => `Show all ${figure(count)} options`,
    answers: 'Who answered',
    answersCaption: 'Answers, by phone number',
    person: 'Person',
    option: 'Answer',
    time: 'When',
    again: 'Refresh',
    nobody: 'Nobody has answered yet.',
    fileOfAnswers: 'Answers as CSV',
    fileOfResults: 'Results as CSV',
    details: 'For your software',
    detailsHint: 'Your software records an answer with these ids.',
    created: 'Created',
    id: 'Id of the survey',
    idsOfOptions: (count: number) => `Ids of the ${figure(count)} options`,
    optionId: 'Id',
    idOf: (option: string) => `Copy the id of ${option}`,
    copyId: 'Copy the id of the survey',
    gone: 'There is no such survey. It may have been deleted.',
    toList: 'Go to all surveys',
    delete: 'Delete',
    deleteTitle: 'Delete this survey?',
    deleteLoses: (question: string, count: number | undefined) =>
      count === undefined
        ? `“${question}” is deleted with all its answers, for everybody in your organisation.`
        : count === 0
          ? `“${question}” is deleted, for everybody in your organisation. It has no answers.`
          : `“${question}” is deleted with ${count === 1 ? 'its answer' : `its ${figure(count)} answers`}, for everybody in your organisation.`,
    deleteForGood:
      'Nobody can bring them back. Your software gets an error when it records another answer. If you need the answers, save them first.',
    keep: 'Keep it',
    confirmDelete: 'Delete the survey',
    deleting: 'Deleting …',
    deleted: 'The survey is deleted.',
  },
  audience: {
    title: 'Count people',
    intro:
      'How many people gave certain answers? Choose options of up to five surveys. A person is counted who chose one of these options in each survey.',
    firstSurvey: 'Which survey?',
    addSurvey: 'And another survey?',
    question: 'Question',
    noneChosen: 'Choose a survey',
    survey: (number: number) => `Survey ${number}`,
    options: 'People who answered one of these',
    findOption: 'Find an option',
    moreOptions: (count: number) =>
      `${counted(count, 'more option is', 'more options are')} not shown. Find them by a word.`,
    remove: (number: number) => `Remove survey ${number}`,
    noSurveys: 'You have no surveys yet, so there is nobody to count.',
    nothingChosen: 'Choose a survey and some of its options.',
    incomplete: 'Choose at least one option of each survey.',
    submit: 'Count people',
    working: 'Counting …',
    result: 'Whom you count',
    few: 'Fewer than 10 people',
    range: (count: number) => `${figure(count)} to ${figure(count + 9)}`,
    people: 'people',
    who: 'People who answered ',
    and: ', and ',
    or: ' or ',
    to: ' to ',
    rounding:
      'Counts go in steps of ten, and fewer than ten people are not counted, so that nobody can single out a person. Answers of the last second may be missing.',
    allowance: (left: number, limit: number) =>
      left === 0
        ? `You have used all ${figure(limit)} counts of today.`
        : `Each count uses one of your ${figure(limit)} counts a day: ${figure(left)} ${left === 1 ? 'is' : 'are'} left.`,
    resets: 'The next day begins',
  },
} as const;
