/**
 * `npm run zones` writes this file: IANA time zones by the first digits of a phone number. The longest prefix counts. A zone that
 * begins with / is in the area of the one before it.
 */
export const zonesByPrefix = `1 America/New_York /Detroit /Kentucky/Louisville /Kentucky/Monticello /Indiana/Indianapolis /Indiana/Vincennes /Indiana/Winamac /Indiana/Marengo /Indiana/Petersburg /Indiana/Vevay /Chicago /Indiana/Tell_City /Indiana/Knox /Menominee /North_Dakota/Center /North_Dakota/New_Salem /North_Dakota/Beulah /Denver /Boise /Phoenix /Los_Angeles /Anchorage /Juneau /Sitka /Metlakatla /Yakutat /Nome /Adak Pacific/Honolulu America/St_Johns /Halifax /Glace_Bay /Moncton /Goose_Bay /Toronto /Iqaluit /Winnipeg /Resolute /Rankin_Inlet /Regina /Swift_Current /Edmonton /Cambridge_Bay /Inuvik /Dawson_Creek /Fort_Nelson /Whitehorse /Dawson /Vancouver /Panama /Puerto_Rico
1242 America/Toronto
1246 America/Barbados
1264 America/Puerto_Rico
1268 America/Puerto_Rico
1284 America/Puerto_Rico
1340 America/Puerto_Rico
1345 America/Panama
1441 Atlantic/Bermuda
1473 America/Puerto_Rico
1649 America/Grand_Turk
1658 America/Jamaica
1664 America/Puerto_Rico
1670 Pacific/Guam
1671 Pacific/Guam
1684 Pacific/Pago_Pago
1721 America/Puerto_Rico
1758 America/Puerto_Rico
1767 America/Puerto_Rico
1784 America/Puerto_Rico
1787 America/Puerto_Rico
18001 America/Santo_Domingo
1809 America/Santo_Domingo
1829 America/Santo_Domingo
1849 America/Santo_Domingo
1868 America/Puerto_Rico
1869 America/Puerto_Rico
1876 America/Jamaica
1939 America/Puerto_Rico
20 Africa/Cairo
211 Africa/Juba
212 Africa/Casablanca /El_Aaiun
213 Africa/Algiers
216 Africa/Tunis
218 Africa/Tripoli
220 Africa/Abidjan
221 Africa/Abidjan
222 Africa/Abidjan
223 Africa/Abidjan
224 Africa/Abidjan
225 Africa/Abidjan
226 Africa/Abidjan
227 Africa/Lagos
228 Africa/Abidjan
229 Africa/Lagos
230 Indian/Mauritius
231 Africa/Monrovia
232 Africa/Abidjan
233 Africa/Abidjan
234 Africa/Lagos
235 Africa/Ndjamena
236 Africa/Lagos
237 Africa/Lagos
238 Atlantic/Cape_Verde
239 Africa/Sao_Tome
240 Africa/Lagos
241 Africa/Lagos
242 Africa/Lagos
243 Africa/Maputo /Lagos
244 Africa/Lagos
245 Africa/Bissau
246 Indian/Chagos
248 Asia/Dubai
249 Africa/Khartoum
250 Africa/Maputo
251 Africa/Nairobi
252 Africa/Nairobi
253 Africa/Nairobi
254 Africa/Nairobi
255 Africa/Nairobi
256 Africa/Nairobi
257 Africa/Maputo
258 Africa/Maputo
260 Africa/Maputo
261 Africa/Nairobi
262 Asia/Dubai Africa/Nairobi
263 Africa/Maputo
264 Africa/Windhoek
265 Africa/Maputo
266 Africa/Johannesburg
267 Africa/Maputo
268 Africa/Johannesburg
269 Africa/Nairobi
27 Africa/Johannesburg
290 Africa/Abidjan
291 Africa/Nairobi
297 America/Puerto_Rico
298 Atlantic/Faroe
299 America/Nuuk /Danmarkshavn /Scoresbysund /Thule
30 Europe/Athens
31 Europe/Brussels
32 Europe/Brussels
33 Europe/Paris
34 Europe/Madrid Africa/Ceuta Atlantic/Canary
350 Europe/Gibraltar
351 Europe/Lisbon Atlantic/Madeira /Azores
352 Europe/Brussels
353 Europe/Dublin
354 Africa/Abidjan
355 Europe/Tirane
356 Europe/Malta
357 Asia/Nicosia /Famagusta
358 Europe/Helsinki
359 Europe/Sofia
36 Europe/Budapest
370 Europe/Vilnius
371 Europe/Riga
372 Europe/Tallinn
373 Europe/Chisinau
374 Asia/Yerevan
375 Europe/Minsk
376 Europe/Andorra
377 Europe/Paris
378 Europe/Rome
380 Europe/Simferopol /Kyiv
381 Europe/Belgrade
382 Europe/Belgrade
385 Europe/Belgrade
386 Europe/Belgrade
387 Europe/Belgrade
389 Europe/Belgrade
39 Europe/Rome
40 Europe/Bucharest
41 Europe/Zurich
420 Europe/Prague
421 Europe/Prague
423 Europe/Zurich
43 Europe/Vienna
44 Europe/London
45 Europe/Berlin
46 Europe/Berlin
47 Europe/Berlin
48 Europe/Warsaw
49 Europe/Zurich /Berlin
500 Atlantic/Stanley
501 America/Belize
502 America/Guatemala
503 America/El_Salvador
504 America/Tegucigalpa
505 America/Managua
506 America/Costa_Rica
507 America/Panama
508 America/Miquelon
509 America/Port-au-Prince
51 America/Lima
52 America/Mexico_City /Cancun /Merida /Monterrey /Matamoros /Chihuahua /Ciudad_Juarez /Ojinaga /Mazatlan /Bahia_Banderas /Hermosillo /Tijuana
53 America/Havana
54 America/Argentina/Buenos_Aires /Argentina/Cordoba /Argentina/Salta /Argentina/Jujuy /Argentina/Tucuman /Argentina/Catamarca /Argentina/La_Rioja /Argentina/San_Juan /Argentina/Mendoza /Argentina/San_Luis /Argentina/Rio_Gallegos /Argentina/Ushuaia
55 America/Noronha /Belem /Fortaleza /Recife /Araguaina /Maceio /Bahia /Sao_Paulo /Campo_Grande /Cuiaba /Santarem /Porto_Velho /Boa_Vista /Manaus /Eirunepe /Rio_Branco
56 America/Santiago /Coyhaique /Punta_Arenas Pacific/Easter
57 America/Bogota
58 America/Caracas
590 America/Puerto_Rico
591 America/La_Paz
592 America/Guyana
593 America/Guayaquil Pacific/Galapagos
594 America/Cayenne
595 America/Asuncion
596 America/Martinique
597 America/Paramaribo
598 America/Montevideo
599 America/Puerto_Rico
60 Asia/Kuching /Singapore
61 Australia/Lord_Howe Antarctica/Macquarie Australia/Hobart /Melbourne /Sydney /Broken_Hill /Brisbane /Lindeman /Adelaide /Darwin /Perth /Eucla Asia/Tokyo /Yangon /Bangkok
62 Asia/Jakarta /Pontianak /Makassar /Jayapura
63 Asia/Manila
64 Pacific/Auckland /Chatham
65 Asia/Singapore
66 Asia/Bangkok
670 Asia/Dili
672 Pacific/Norfolk
673 Asia/Kuching
674 Pacific/Nauru
675 Pacific/Port_Moresby /Bougainville
676 Pacific/Tongatapu
677 Pacific/Guadalcanal
678 Pacific/Efate
679 Pacific/Fiji
680 Pacific/Palau
681 Pacific/Tarawa
682 Pacific/Rarotonga
683 Pacific/Niue
685 Pacific/Apia
686 Pacific/Tarawa /Kanton /Kiritimati
687 Pacific/Noumea
688 Pacific/Tarawa
689 Pacific/Tahiti /Marquesas /Gambier
690 Pacific/Fakaofo
691 Pacific/Kosrae /Port_Moresby /Guadalcanal
692 Pacific/Tarawa /Kwajalein
7 Europe/Kaliningrad /Moscow /Simferopol /Kirov /Volgograd /Astrakhan /Saratov /Ulyanovsk /Samara Asia/Yekaterinburg /Omsk /Novosibirsk /Barnaul /Tomsk /Novokuznetsk /Krasnoyarsk /Irkutsk /Chita /Yakutsk /Khandyga /Vladivostok /Ust-Nera /Magadan /Sakhalin /Srednekolymsk /Kamchatka /Anadyr
77 Asia/Almaty /Qyzylorda /Qostanay /Aqtobe /Aqtau /Atyrau /Oral
81 Asia/Tokyo
82 Asia/Seoul
84 Asia/Bangkok /Ho_Chi_Minh
850 Asia/Pyongyang
852 Asia/Hong_Kong
853 Asia/Macau
855 Asia/Bangkok
856 Asia/Bangkok
86 Asia/Shanghai /Urumqi
880 Asia/Dhaka
886 Asia/Taipei
90 Europe/Istanbul
91 Asia/Kolkata
92 Asia/Karachi
93 Asia/Kabul
94 Asia/Colombo
95 Asia/Yangon
960 Indian/Maldives
961 Asia/Beirut
962 Asia/Amman
963 Asia/Damascus
964 Asia/Baghdad
965 Asia/Riyadh
966 Asia/Riyadh
967 Asia/Riyadh
968 Asia/Dubai
970 Asia/Gaza /Hebron
971 Asia/Dubai
972 Asia/Jerusalem
973 Asia/Qatar
974 Asia/Qatar
975 Asia/Thimphu
976 Asia/Ulaanbaatar /Hovd
977 Asia/Kathmandu
98 Asia/Tehran
992 Asia/Dushanbe
993 Asia/Ashgabat
994 Asia/Baku
995 Asia/Tbilisi
996 Asia/Bishkek
998 Asia/Samarkand /Tashkent`;
