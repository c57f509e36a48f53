/**
 * Texts that a strict scanner must accept or refuse, one a line; in the lists at the end those that no single line can hold.
 * Lines are raw: a backslash in the table is a backslash in the text.
 */
import type { JsonFault } from "../../../src/json/scan.ts";

const lines = (table: { readonly raw: readonly string[] }): string[] =>
  (table.raw[0] ?? "").split("\n").filter((line) => line !== "");

/** For a table where blanks inside a case do not matter: many cases in one line. */
const words = (table: { readonly raw: readonly string[] }): string[] =>
  (table.raw[0] ?? "").split(/\s+/).filter((word) => word !== "");

export const ACCEPTED: readonly string[] = [
  ...words`
    0 -0 1 -1 10 123 0.0 -0.0 0.5 1.25 -10.05 1e0 1E0 1e+0 1e-0 1E+10 1.5e300 1e400 -1e-400 0e0 0E9 0.0e-0
    100000000000000000000000 9007199254740993 true false null [] {} [[]] [{}] {"a":{}} [true,false,null] [0,-1,2.5]
    [[],[],{}] {"":0} "" "a" "\"" "\\" "\/" "/" "\b\f\n\r\t" "\u0000" "\u0041" "\uABCD" "\uabcd" "\uaBcD" "\u005c" "\u0022"
    "\ud83d\ude00" "\uD83D\uDE00" "\ufeff" "\\u" "\\\"" "'" "\\\\" {"a":{"a":{"a":1}}} [{"a":1},{"a":1}] {"id":1,"ID":2}
    {"__proto__":1} {"__proto__":{"a":1},"constructor":2} {"\u0061":1,"b":2} {"a":1,"\u0000a":2} {"\u00e9":1,"e\u0301":2}
    [[[[[[[[]]]]]]]] {"a":[{"b":[{"c":[{"d":[]}]}]}]} {"e":1,"é":2} "😀" "é" ["é","\u00e9"]`,
  // Unpaired surrogates in values are flagged, not refused.
  ...words`"\ud800" "\udc00\ud800" "\ud800\ud800" "\ud800a" "\ud800\n" "\ud800\u0041" "\ud800\\udc00" ["\udfff"] {"a":"\udfff"}`,
  ...[
    " 1",
    "1 ",
    "\t1\n",
    "\r\n[\r\n]\r\n",
    " { } ",
    " [ ] ",
    '{ "a" : 1 }',
    "[ 1 , 2 ]",
    '{"a":1 ,\n"b":2}',
    "\n\n  [1]",
  ],
  ...[
    '" "',
    '"\u2028\u2029"',
    '"\u007f"',
    '"\u0080"',
    '"\ufeff"',
    '"\ufffd"',
    '"\uffff"',
    '"\u{10ffff}"',
    '{"a":1,"a ":2}',
  ],
];

export const REFUSED: Readonly<Partial<Record<JsonFault, readonly string[]>>> = {
  empty: ["", " ", "\n\t\r "],
  syntax: [
    ...words`
      01 00 -01 -00 - -- -a -. +1 +0 .5 -.5 1. -1. 1.e1 1.a 1e 1e+ 1e- 1E 1ee1 Infinity -Infinity NaN undefined
      t tr tru f fals n nul nulL TRUE True Null a ' ] } , : " \ @ % & * [ { [1 [, [,1] [1,] [1,,2] [} {] {[} [{] [{} {"a":{}
      [1:2] [01] [1.] [-] [.5] [+1] [1e] [0x1] [1_0] [1n] [tru] [nulll] [truefalse] [[] [[
      {"a" {"a": {"a":1 {"a":1, {"a":1,} {,} {,"a":1} {"a"} {"a",1} {"a":} {"a"::1} {"a":1;"b":2} {"a":1:2} {"a":1]
      ["a":1] {"a":1,,"b":2} {"a":1,2} {"a"=1} {a:1} {'a':1} ['a'] {1:2} {null:1} {true:1} {[]:1} {{}:1}
      "a "\ "\" "\u" "\u0" "\u00" "\u000" "\u000g" "\u+041" "\u-041" "\u004 "\U0041" "\x41" "\a" "\v" "\0" "\'" "\é" "\😀"
      "\ud800\" "\ud800\u" "\ud800\u12" "\ud800\udc0" "\ud800\x" {"\u006":1} {"\x":1} {"a
      \u0031 \n [\t] [...1] (1) <1> [0,] #1 //1 /**/1 [1,/**/2] [1/**/] [1//] {"a":1/**/}`,
    ...lines`
[1 2]
[1 ,
{"a":1 "b":2}
{"a" "b"}
{"a" 1}
"\u 041"
[1 true]
[- 1]
[1. 0]
[1 e1]
[tr ue]`,
    ...["\u0000", "\u0001", "\u001f", "\n", "\t", "\r"].flatMap((c) => [
      `"${c}"`,
      `"a${c}b"`,
      `{"${c}":1}`,
      `"\\${c}"`,
    ]),
    ...["\u0000", "\u000b", "\u000c", "\u0085", "\u00a0", "\u2028", "\u200b", "\u3000"].flatMap((c) => [
      c,
      `${c}1`,
      `[${c}1]`,
      `[1${c}]`,
    ]),
  ],
  trailing: [
    ...lines`
1 2
[] []
null null
{} x
{}// c
{} /* c */`,
    ...words`1, 1] 1} 1: [1], []] {}} {}{} truefalse 1a 1e1.5 """" "a"b 0x1 1_000 1n -0a 1e1e 1.5.5 nulls true1`,
    ...["[]\u0000", "1\u0000", "1\u00a0", "{}\ufeff", "\n[]\n[]\n", '{"a":1}\n{"a":1}'],
  ],
};

const LONG_KEY = "k".repeat(300);

export const DUPLICATES: readonly string[] = [
  ...words`
    {"a":1,"a":2} {"a":1,"a":1} {"a":1,"\u0061":2} {"\u0061":1,"a":2} {"\u0061":1,"\u0061":2} {"":1,"":2} {"0":1,"0":2}
    {"__proto__":1,"__proto__":2} {"a":1,"b":2,"c":{"d":1},"a":3} [[{"x":{"a":1,"b":[],"a":2}}]] {"a":{"b":1,"b":2}}
    {"é":1,"\u00e9":2} {"é":1,"é":2} {"😀":1,"\ud83d\ude00":2} {"/":1,"\/":2} {"\n":1,"\u000a":2} {"\"":1,"\u0022":2}
    {"\u00E9":1,"\u00e9":2} {"a":{},"b":{},"a":{}} {"name":"read_note","n\u0061me":"delete_note"} {"a\u0000":1,"a\u0000":2}`,
  `{"${LONG_KEY}":1,"b":0,"${LONG_KEY}":2}`,
];

export const NO_DUPLICATES: readonly string[] = [
  ...words`
    {"a":1,"b":{"a":1}} {"a":{"a":1},"b":{"a":1}} {"\\u0061":1,"a":2} {"ab":1,"ba":2} {"a":1,"\ta":2} {"\"":1,"\\\"":2}
    {"'":1,"\"":2} {"é":1,"Ã©":2} {"a":"a","b":"a"} {"\"a":1,"a":2} {"a\"":1,"a":2}`,
  `{"${LONG_KEY}":1,"${LONG_KEY}x":2,"x${LONG_KEY}":3}`,
];
