import { formatString, items } from './literals.ts';
import type { Random } from './random.ts';

/** Arguments for particular functions. */
const pools = {
  version:
    items(String.raw`1.2.3¦v1.2¦1¦1.2.3-rc.1¦1.2.3-rc.10¦1.2.3-alpha¦1.2.3-alpha.beta¦01.2¦1.2.3-01¦1.2.3+m¦x¦1.2.3.4¦
99999999999999999999¦0.0.0¦0.2.5¦0.0.3¦2.0.0¦1.9.9¦2.0.0-0¦1.2.4¦1.3.0¦0.0.3-a¦¦ 1.2.3¦
1.2.3-99999999999999999999¦1.2.3-a-b.c¦1.2.3-`),
  constraint:
    items(String.raw`>1¦>=1.2¦<2¦~1.2¦~1¦^1.2.3¦^0.2¦^0.0.3¦^0¦^0.0¦1.x¦*¦!=1.2.3¦!=1.x¦!=1.2.x¦=1.2.3¦=>1¦=<1.2¦<=1.2¦<=1¦<=1.2.3¦
~>1.2.3¦ >= 1.2, < 2 ¦>1 <3¦1.2 - 1.4¦1 - 2¦^1 || ^2¦>1.2.3-alpha¦~1.2.3-beta¦>=1.2.3-rc.2¦¦foo¦>=¦1.2.3 ||¦>x¦
!=1.2.3-rc.1¦~0¦>1.x¦>1.2.x¦>1.2.3¦<=1.x¦~*¦!=*¦v1.2¦>=1.2.3+m¦^0.2.3¦^2¦!=1.2.x-rc.1¦99999999999999999999¦
>1.2.3,¦1.2.3-01¦1||2`),
  url: items(String.raw`http://h/p¦a:b@c¦http://a b/¦http://[::1]:80/¦//h/p?q#f¦mailto:x@y¦http://u:p%40@h:8080/p%20a?q=1#f%20x¦
http://h:x/¦1http://¦%zz¦http://%zz/¦/a:b¦a:b/c¦:x¦http://a/%2f¦x y¦http://us er@h/¦http://u@h@i/¦HTTP://H/¦
http:///p¦http:p¦http:?q¦?q#f¦#f¦http://h?¦http://h#¦*¦¦http://h:1:2/¦pg://h:1:2/¦http://h%41/¦http://h%C3%A9/¦
http://[::1¦http://[fe80::1%25en0]/¦http://[fe80::1%25e%20n]/¦http://[x]/¦http://[1.2.3.4]/¦http://a[b]/¦
http://[::1]x/¦http://h/#%¦http://h/?%zz¦http://u:@h¦http://:p@h¦///p¦././a:b¦a b:c¦http://é/ü?ö#ä¦
http://h/!$&'()*+,;=:@[]¦http://h<>"/¦http://h^/¦http://[::1%2541]/`),
  base32:
    items(String.raw`¦ME======¦MFRA====¦MFRGG===¦MFRGGZA=¦MFRGGZDF¦ME¦ME=====¦M=======¦MFRGG==¦mfrgg===¦ME======ME======¦ME=A====¦
MFR=====¦MFRGGZDFM¦=¦MFRGG===\n¦MF\nRGG===¦MFRGGZ==¦77777777¦ME=======¦MFRGGZDF=¦MFRGGZDFME======`),
  base64:
    items(String.raw`¦aGk¦aGk=¦a¦aGk=x¦a=Gk¦aG\nk=¦YQ==¦YQ=¦YQ= =¦*¦YQ==\n¦Y Q==¦YWJj¦YWJjZA==¦YWJjZA=¦YWJjZ¦/+8=¦_-8=¦YQ=\n=¦
YQ==YQ==¦=¦====¦YWJ\n¦YWJjYW\nJ¦8J+aog==¦/w==¦YR==`),
  duration:
    items(String.raw`1h30m¦90¦1.5s¦-3m¦1µs¦100h¦800h¦9000h¦x¦¦5¦+5¦-0¦.5s¦1d¦9223372036854775807¦99999999999999999999¦
-99999999999999999999¦1ns¦1500ms¦61s¦0¦1.s¦.s¦1h1¦2562047h48m¦3000000h¦-2562047h47m16.854775808s¦1.0000000001s`),
  name: items(String.raw`FirstName¦HTTPServer¦NoHTTPS¦GO_PATH¦go path¦http2xx¦HTTP20xOK¦Duration2m3s¦Bld4Floor3rd¦_complex__case_¦a1B2¦日本Go語¦
éCole¦ǅabc¦ß¦İx¦ﬁn¦ΑΣ ΟΣ¦ᾳ ῃ¦ოაB¦A¦aB¦_¦__¦-a¦a-¦a--b¦x.y¦X.Y¦A1¦1A¦12¦A12b¦aBC¦ABc¦A B¦a_B¦ABC¦!¦a!b¦a1!¦1_a¦Ω1¦٣a¦
A٣¦a😀B¦😀¦ẞ¦ŉa¦ǰ¦İ¦foo_BAR_baz¦FOO-bar¦lorem ipsum¦  two  ¦tab\tx¦x\u00a0y¦x\u2003y¦don't stop¦a\xffB¦\xff¦\xffA¦
A\xff¦HTTP_2¦A1-B2¦a1b2C3¦X2y¦2Xy¦ᾳβ¦ὲ¦ʼn¦ﬃ`),
  text: items(String.raw`¦a¦one two three¦averyveryverylongword¦ lead¦a  b¦x averyveryverylongword y¦one two averyveryverylongword¦
é è ê ë¦ab cd ef gh ij¦trailing ¦now is the time for all¦crème brûlée¦tab\tbed words¦a\nb c`),
  path: items(
    String.raw`a/b/../c¦/../a¦//¦/¦a//b/¦¦.¦..¦../..¦/a/b.c.d¦x.¦.hidden¦a/..¦a/../..¦/a/./b/¦b¦a/b/¦///x¦x/.y/z¦a.b/c`,
  ),
  replacement: items('$1-$2¦${1}x¦$1x¦$nx¦${n}x¦$$¦$¦${¦$0¦$9¦${1¦$ ¦<$0>¦\\\\1¦$01¦${ }¦$é¦'),
  pattern:
    items(String.raw`(a)(r)?¦(?P<n>r)b¦x*¦¦b|¦(o)(u)¦^¦$¦\\b¦[aeiou]¦h(?P<n>a)(?P<m>z)?¦(?P<n>x)|(?P<n>r)¦a+?¦.¦harbour¦(?i)HAR¦
[^[:space:]]¦\\x{72}¦(?m)$¦é¦()`),
  subject: ['harbour', '', 'aaa', 'rrbarr', 'héé', 'a,b,,c', 'x\\ny', '🚢r', ' '],
  number:
    items(String.raw`1_000¦0x1F¦010¦1e3¦ 5¦5.0¦5.00¦5.¦-0¦inf¦-Inf¦NaN¦0b1¦1e400¦9223372036854775808¦-9223372036854775809¦
-9223372036854775808¦+7¦0o17¦08¦.0¦0.0¦00¦1.50¦¦-¦0x¦0x1p4¦1__0¦infinity¦+nan¦777¦8¦-17¦1000000000000000000000¦
0.1`),
  scalar:
    items(String.raw`plain¦¦ lead¦trail ¦a: b¦a:b¦a #b¦a#b¦# c¦- x¦-x¦-¦?¦? x¦?x¦:¦:x¦x:¦[a]¦{a}¦a, b¦,¦&a¦*a¦!t¦|¦>¦%x¦@x¦${'`x`'}¦it's¦'q'¦
say \"x\"¦a\\b¦yes¦No¦ON¦off¦y¦N¦true¦False¦null¦Null¦~¦.nan¦.inf¦-.Inf¦1¦-1¦+1¦1.5¦.5¦1.¦1e3¦1E-3¦0x1F¦0o7¦017¦08¦
0b1¦1_000¦1:30¦190:20:30.15¦2001-01-01¦2001-13-01¦2001-02-29¦2000-02-29¦2001-1-1 1:2:3¦2001-01-01T01:02:03Z¦
2001-01-01t1:2:3.5+01:30¦2001-01-01T25:00:00Z¦20010101¦---¦--- x¦...¦....¦<<¦=¦x\ny¦x\n¦\nx¦ x\ny¦x \ny¦x\n y¦x\n\n¦
\n¦\t¦a\tb¦\tx¦x\r¦x\r\ny¦é¦é: ü¦世界¦🚢¦\u0085¦a \u0085 b¦\u2028¦a\u2028b¦a\u2029¦\u00a0¦\ufeff¦x\ufeff¦\ufeff é¦\x01¦
\x1b¦\x7f¦\u0080¦\uffff¦\ufffd¦\x00¦
word word word word word word word word word word word word word word word word word word¦
it's: word word word word word word word word word word word word word word word word¦
q\" word word word  word word word word word\t word word word word word word word word word¦9007199254740993¦1e1000¦
0x8000000000000000¦18446744073709551615¦18446744073709551616¦-9223372036854775808¦-9223372036854775809¦1__0¦_1¦1_¦
0x_1¦+.inf¦+.5e3¦.e3¦.5_0¦é\nü¦🚢\nx¦\u2028\nx¦x\u2028\u2028¦a\u2028 b\u2028`),
  // Keys without mixed letters and numbers, for which go-yaml's order is not transitive.
  key: [
    ...['a', 'b', 'k10', 'k9', 'k1', '1', '10', '9', 'A', 'Z', '_', '-', 'é', 'É', '日', 'a-b', 'a_b', 'a.b', ''],
    ...[' ', 'y', 'null', 'a\nb', '🚢', '?'],
  ],
  layout:
    items(String.raw`2006-01-02T15:04:05Z07:00¦2006-01-02T15:04:05.999999999Z07:00¦2006-01-02¦Mon Jan _2 15:04:05 2006¦
Mon, 02 Jan 2006 15:04:05 -0700¦Monday, 02-Jan-06 15:04:05¦02 Jan 06 15:04 -0700¦3:04PM¦Jan _2 15:04:05.000¦15:04:05¦
2006-01-02 15:04:05¦2006 002¦06 __2¦3:4:5 pm¦2006-01-02 15:04:05 -07¦2006-01-02 15:04:05 -070000¦Z07¦Z0700¦Z070000¦
2006-01-02 15:04:05 -07:00:00¦Z07:00:00¦.000¦.999¦15:04:05,000000¦15:04:05.9999999999999¦January 2 2006¦Janet¦Mondayx¦
_2006¦__2006¦_2_2¦0000¦007¦1¦2¦11¦152¦.00¦.009¦.90¦PM pm AM¦¦%d¦é 2006¦2006\n01¦  2006  01 ¦-07x¦-0¦Z0¦(2006)*[01]+?¦
20060102150405¦200601¦1504¦05.0¦5.9¦.0.9¦Jan2 1/2/06¦\xff2006¦2006|01`),
  abbreviated: ['2006-01-02 15:04:05 MST', 'MST', '2006-01-02 15:04 MST -0700', '15:04 MST'],
  /** The elements of time layouts, including invalid elements. */
  year: items('2024¦1999¦0001¦9999¦0000¦2000¦1900¦99¦07¦68¦69¦+5¦-5'),
  month: items('01¦12¦2¦02¦13¦00¦0¦Feb¦february¦DECEMBER¦jun¦June¦9'),
  day: items('01¦29¦30¦31¦28¦0¦32¦1¦ 7¦  7¦366¦365¦060¦061¦059'),
  hour: items('00¦12¦23¦24¦5¦05¦11'),
  second: items('00¦59¦60¦5¦05¦05.5¦05,123456789123¦05.¦05.+1'),
  offset:
    items(`¦Z¦+0000¦-0000¦+01:00¦-07:30¦+0530¦GMT¦UTC¦EST¦GMT+3¦GMT-12¦CEST¦PM¦AM¦pm¦am¦+03¦-23¦+24:00¦+25:00¦-00:00:01¦+010203¦
+01:02:03¦WITA¦ChST¦MeST¦ABCDE¦ABCDT¦ABCDEF¦GMT+24¦+3¦A¦+14:00¦+15:00¦+00:61¦-000001¦-00:00:30¦+0000 UTC¦-0000 GMT¦.5¦,5¦.-5`),
  modification: items('1h¦-1.5h¦1ns¦-1ns¦x¦¦9223372036854775807ns¦-100000h¦24h¦999ms¦-999999999ns'),
  seconds: items(`0¦-1¦951782399¦1711846799¦1711846800¦1729994400¦-62135596800¦-62135596801¦253402300799¦253402300800¦
-62167219201¦-2208988800¦-5000000000¦99999999999¦-99999999999999¦88888888888888¦9223372036854775807¦-9223372036854775808`),
  zone: items(`UTC¦¦Local¦Europe/Paris¦America/New_York¦Asia/Kolkata¦Australia/Lord_Howe¦Pacific/Apia¦US/Eastern¦utc¦IST¦
europe/paris¦Nowhere/City¦PST¦Etc/GMT+5¦+01:00¦../x¦/etc¦Europe/Dublin¦America/St_Johns¦JST¦Japan¦EUROPE/PARIS¦Factory`),
  widths: ['-3', '-1', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '12', '20', '30'],
} as const;

type Pool = keyof typeof pools;

/** Functions, and the pools of their arguments. */
const calls: readonly (readonly [string, ...Pool[]])[] = [
  ['semverCompare', 'constraint', 'version'],
  ['semverCompare', 'constraint', 'version'],
  ['semver', 'version'],
  ['urlParse', 'url'],
  ['b32dec', 'base32'],
  ['b64dec', 'base64'],
  ['b32enc', 'name'],
  ['b64enc', 'name'],
  ['duration', 'duration'],
  ['durationRound', 'duration'],
  ['snakecase', 'name'],
  ['kebabcase', 'name'],
  ['camelcase', 'name'],
  ['title', 'name'],
  ['untitle', 'name'],
  ['swapcase', 'name'],
  ['upper', 'name'],
  ['lower', 'name'],
  ['initials', 'name'],
  ['nospace', 'name'],
  ['trim', 'name'],
  ['wrap', 'widths', 'text'],
  ['wrapWith', 'widths', 'subject', 'text'],
  ['abbrev', 'widths', 'text'],
  ['abbrevboth', 'widths', 'widths', 'text'],
  ['substr', 'widths', 'widths', 'text'],
  ['trunc', 'widths', 'text'],
  ['clean', 'path'],
  ['base', 'path'],
  ['dir', 'path'],
  ['ext', 'path'],
  ['directory', 'path'],
  ['regexReplaceAll', 'pattern', 'subject', 'replacement'],
  ['regexReplaceAllLiteral', 'pattern', 'subject', 'replacement'],
  ['regexFind', 'pattern', 'subject'],
  ['regexFindAll', 'pattern', 'subject', 'widths'],
  ['regexSplit', 'pattern', 'subject', 'widths'],
  ['regexMatch', 'pattern', 'subject'],
  ['maxf', 'number', 'number'],
  ['minf', 'number', 'number', 'number'],
  ['int', 'number'],
  ['int64', 'number'],
  ['float64', 'number'],
  ['atoi', 'number'],
  ['toDecimal', 'number'],
  ['toYaml', 'scalar'],
  ['toJson', 'scalar'],
  ['quote', 'scalar'],
  ['splitn', 'subject', 'widths', 'subject'],
  ['replace', 'subject', 'name', 'subject'],
  ['trimAll', 'subject', 'subject'],
  ['trimPrefix', 'subject', 'subject'],
  ['trimSuffix', 'subject', 'subject'],
  ['indent', 'widths', 'scalar'],
  ['nindent', 'widths', 'scalar'],
  ['html', 'scalar'],
  ['js', 'scalar'],
  ['urlquery', 'scalar'],
  ['seq', 'widths', 'widths', 'widths'],
  ['untilStep', 'widths', 'widths', 'widths'],
  ['plural', 'name', 'text', 'widths'],
];

export function sample(random: Random, pool: Pool): string {
  const text = random.pick<string>(pools[pool]);
  return pool === 'widths' ? text : `"${text}"`;
}

const plainValues = items(
  '1¦1.5¦-0.0¦1e20¦1e21¦123456789012345678¦true¦nil¦(list)¦(dict)¦(add 9007199254740993 0)¦0.000001¦1e-7¦(until 2)',
);

/** Returns a nested value with keys and strings that are difficult to write as YAML. */
function nested(random: Random, depth: number): string {
  const choice = random.next();
  if (depth > 3 || choice < 0.45) return sample(random, 'scalar');
  if (choice < 0.6) return random.pick(plainValues);
  const parts = Array.from({ length: 1 + random.below(4) }, () => nested(random, depth + 1));
  if (choice < 0.75) return `(list ${parts.join(' ')})`;
  return `(dict ${parts.map((item) => `${sample(random, 'key')} ${item}`).join(' ')})`;
}

/** Returns a map of URL parts for urlJoin. */
function urlParts(random: Random): string {
  const parts = {
    scheme: ['http', '', 'x'],
    host: ['h', 'h:80', '', '[::1]', 'h i', 'é', 'h%'],
    path: ['/p', 'p', '', 'a:b', '/a b?', '*', '/é', 'p/a:b'],
    query: ['q=1', ''],
    opaque: ['', '', 'o p'],
    fragment: ['', 'f', 'f g!', "é'"],
    userinfo: ['', 'u', 'u:p', 'u p', 'u@v', 'u%', 'u:p:q', 'u/'],
  };
  const entries = Object.entries(parts).filter(() => random.chance(0.6));
  const wrong = random.chance(0.06) ? ' "host" 1' : random.chance(0.06) ? ' "path" nil' : '';
  return `(dict ${entries.map(([key, values]) => `"${key}" "${random.pick(values)}"`).join(' ')}${wrong})`;
}

/** Returns a template with one function and specific arguments. */
export function specialTemplate(random: Random): string {
  const choice = random.next();
  if (choice < 0.15) return `{{ toYaml ${nested(random, 0)} }}`;
  if (choice < 0.2)
    return `{{ ${random.pick(['toJson', 'toPrettyJson', 'toRawJson', 'print', 'deepCopy', 'structToJSON'])} ${nested(random, 0)} }}`;
  if (choice < 0.24) return `{{ urlJoin ${urlParts(random)} }}`;
  if (choice < 0.28)
    return `{{ deepEqual ${nested(random, 2)} ${nested(random, 2)} }}{{ ${random.pick(['merge', 'mergeOverwrite'])} (dict "a" ${nested(random, 2)}) (dict "a" ${nested(random, 2)} "b" 1) }}`;
  if (choice < 0.34)
    return `{{ printf ${formatString(random)} ${nested(random, 3)} ${random.pick(['1', '"x"', '2.5', '(add 1 2)', '(semver "1.2.3")', '1i'])} }}`;
  if (choice < 0.38) return versionMethod(random);
  if (choice < 0.48) return timeTemplate(random);
  const [name, ...places] = random.pick(calls);
  return `{{ ${name} ${places.map((pool) => sample(random, pool)).join(' ')} }}`;
}

/** Returns a time as text, in the format of a layout. */
function moment(random: Random): string {
  const [year, month, day, hour, second, offset] = (['year', 'month', 'day', 'hour', 'second', 'offset'] as const).map(
    (pool) => random.pick<string>(pools[pool]),
  );
  return random.pick([
    `${year}-${month}-${day}T${hour}:10:${second}${offset}`,
    `${year}-${month}-${day} ${hour}:10:${second} ${offset}`,
    `${year}-${month}-${day}`,
    `${hour}:59${offset}`,
    `${hour}:59 ${offset}`,
    `${month} ${day} ${year}`,
    `${year} ${day}`,
    `Mon ${month} ${day} ${hour}:10:${second} ${year}`,
    `sunday, ${day}-${month}-${year} ${hour}:10:${second}`,
    `${offset}`,
  ]);
}

/** Returns a template that creates, changes, compares or prints times. MST occurs only in texts. */
function timeTemplate(random: Random): string {
  const any = (pool: Pool): string => sample(random, pool);
  const layout = random.chance(0.8) ? any('layout') : any('abbreviated');
  const made = `${random.pick(['toDate', 'mustToDate'])} ${layout} "${moment(random)}"`;
  const seconds = random.pick(pools.seconds);
  const parsed = random.pick(pools.layout.slice(0, 2));
  switch (random.below(5)) {
    case 0:
      return `{{ ${random.pick(['dateInZone', 'date_in_zone'])} ${any('layout')} ${seconds} ${any('zone')} }} {{ htmlDateInZone ${seconds} ${any('zone')} }}`;
    case 1:
      return `{{ date ${layout} ${seconds} }} {{ htmlDate ${seconds} }} {{ toDate ${layout} (date ${layout} ${seconds}) }}`;
    case 2:
      return `{{ $t := ${made} }}{{ $t }} {{ unixEpoch $t }} {{ toJson $t }} {{ printf "%#v" $t }} {{ $t.Format ${any('layout')} }}`;
    case 3:
      return `{{ $t := ${made} }}{{ $u := ${random.pick(['dateModify', 'must_date_modify'])} ${any('modification')} $t }}{{ $u }} {{ eq $t $u }} {{ eq $u $u }} {{ deepEqual $t $u }} {{ $u.Unix }} {{ $u.UTC.YearDay }} {{ $u.Foo }}`;
    default:
      return `{{ $t := mustToDate "${parsed}" "20${10 + random.below(80)}-1${random.below(3)}-2${random.below(9)}T0${random.below(10)}:10:20.5${random.pick(pools.offset.slice(1, 6))}" }}{{ $t }} {{ toYaml $t }} {{ dateInZone ${any('layout')} $t ${any('zone')} }} {{ eq $t (toDate "${parsed}" "2024-02-29T00:00:00Z") }} {{ $t.Hour }}`;
  }
}

function versionMethod(random: Random): string {
  const version = (): string => `(semver ${sample(random, 'version')})`;
  const property = random.pick([
    'Major',
    'Minor',
    'Patch',
    'Prerelease',
    'Metadata',
    'Original',
    'String',
    'IncMajor',
    'IncMinor',
    'IncPatch',
    'IncPatch.Original',
    'major',
    'Nope',
  ]);
  if (random.chance(0.5)) return `{{ ${version()}.${property} }}`;
  return `{{ ${version()}.${random.pick(['Compare', 'Equal', 'LessThan', 'GreaterThan', 'LessThanEqual', 'GreaterThanEqual'])} ${version()} }}`;
}
