/**
 * The main roads and ferries of Vietnam as data: which national road connects which cities, in order. It contains only what a road
 * map shows; `graph.ts` computes lengths from coordinates.
 *
 * `kind` decides how winding and how fast a road is assumed to be. A name is a place of `places.ts`.
 */

export type RoadKind = 'expressway' | 'national' | 'mountain' | 'ferry'

export interface Road {
  readonly road: string
  readonly kind: RoadKind
  readonly through: readonly string[]
}

export const roads: readonly Road[] = [
  {
    road: 'QL1',
    kind: 'national',
    through: [
      'Lạng Sơn',
      'Bắc Giang',
      'Bắc Ninh',
      'Hà Nội',
      'Phủ Lý',
      'Ninh Bình',
      'Bỉm Sơn',
      'Thanh Hóa',
      'Vinh',
      'Hà Tĩnh',
      'Đồng Hới',
      'Đông Hà',
      'Huế',
      'Đà Nẵng',
      'Tam Kỳ',
      'Quảng Ngãi',
      'Quy Nhơn',
      'Sông Cầu',
      'Tuy Hòa',
      'Nha Trang',
      'Cam Ranh',
      'Phan Rang',
      'Phan Thiết',
      'Biên Hòa',
      'TP. Hồ Chí Minh',
      'Tân An',
      'Mỹ Tho',
      'Vĩnh Long',
      'Cần Thơ',
      'Sóc Trăng',
      'Bạc Liêu',
      'Cà Mau',
    ],
  },
  { road: 'CT.01', kind: 'expressway', through: ['Hà Nội', 'Phủ Lý', 'Ninh Bình', 'Thanh Hóa', 'Vinh'] },
  { road: 'CT.01', kind: 'expressway', through: ['Đà Nẵng', 'Tam Kỳ', 'Quảng Ngãi'] },
  { road: 'CT.01', kind: 'expressway', through: ['Nha Trang', 'Cam Ranh', 'Phan Rang', 'Phan Thiết', 'Biên Hòa'] },
  { road: 'CT.01', kind: 'expressway', through: ['TP. Hồ Chí Minh', 'Tân An', 'Mỹ Tho', 'Vĩnh Long', 'Cần Thơ'] },
  { road: 'CT.03', kind: 'expressway', through: ['Hà Nội', 'Bắc Ninh', 'Bắc Giang'] },
  { road: 'CT.04', kind: 'expressway', through: ['Hà Nội', 'Hải Dương', 'Hải Phòng'] },
  { road: 'CT.05', kind: 'expressway', through: ['Hà Nội', 'Việt Trì', 'Yên Bái', 'Lào Cai'] },
  { road: 'CT.06', kind: 'expressway', through: ['Hải Phòng', 'Hạ Long', 'Cẩm Phả', 'Móng Cái'] },
  { road: 'CT.07', kind: 'expressway', through: ['Hà Nội', 'Thái Nguyên'] },
  { road: 'QL2', kind: 'national', through: ['Hà Nội', 'Vĩnh Yên', 'Việt Trì', 'Tuyên Quang'] },
  { road: 'QL2', kind: 'mountain', through: ['Tuyên Quang', 'Hà Giang'] },
  { road: 'QL3', kind: 'national', through: ['Hà Nội', 'Thái Nguyên'] },
  { road: 'QL3', kind: 'mountain', through: ['Thái Nguyên', 'Bắc Kạn', 'Cao Bằng'] },
  { road: 'QL4A', kind: 'mountain', through: ['Lạng Sơn', 'Cao Bằng'] },
  { road: 'QL4B', kind: 'mountain', through: ['Lạng Sơn', 'Móng Cái'] },
  { road: 'QL4D', kind: 'mountain', through: ['Lào Cai', 'Sa Pa', 'Lai Châu'] },
  { road: 'QL5', kind: 'national', through: ['Hà Nội', 'Hải Dương', 'Hải Phòng'] },
  { road: 'QL6', kind: 'national', through: ['Hà Nội', 'Hòa Bình'] },
  { road: 'QL6', kind: 'mountain', through: ['Hòa Bình', 'Sơn La', 'Điện Biên Phủ'] },
  { road: 'QL10', kind: 'national', through: ['Hải Phòng', 'Thái Bình', 'Nam Định', 'Ninh Bình'] },
  { road: 'QL12', kind: 'mountain', through: ['Điện Biên Phủ', 'Lai Châu'] },
  { road: 'QL13', kind: 'national', through: ['TP. Hồ Chí Minh', 'Thủ Dầu Một', 'Bình Long'] },
  { road: 'QL14', kind: 'mountain', through: ['Đà Nẵng', 'Kon Tum', 'Pleiku', 'Buôn Ma Thuột', 'Đồng Xoài'] },
  { road: 'ĐT741', kind: 'national', through: ['Thủ Dầu Một', 'Đồng Xoài'] },
  { road: 'QL14', kind: 'national', through: ['Đồng Xoài', 'Bình Long'] },
  { road: 'QL18', kind: 'national', through: ['Bắc Ninh', 'Uông Bí', 'Hạ Long', 'Cẩm Phả', 'Móng Cái'] },
  { road: 'QL19', kind: 'mountain', through: ['Quy Nhơn', 'Pleiku'] },
  { road: 'QL20', kind: 'mountain', through: ['Biên Hòa', 'Bảo Lộc', 'Đà Lạt'] },
  { road: 'QL21B', kind: 'national', through: ['Phủ Lý', 'Nam Định'] },
  { road: 'QL22', kind: 'national', through: ['TP. Hồ Chí Minh', 'Củ Chi', 'Tây Ninh'] },
  { road: 'QL24', kind: 'mountain', through: ['Quảng Ngãi', 'Kon Tum'] },
  { road: 'QL25', kind: 'mountain', through: ['Tuy Hòa', 'Pleiku'] },
  { road: 'QL26', kind: 'mountain', through: ['Nha Trang', 'Buôn Ma Thuột'] },
  { road: 'QL27', kind: 'mountain', through: ['Phan Rang', 'Đà Lạt', 'Buôn Ma Thuột'] },
  { road: 'QL27C', kind: 'mountain', through: ['Nha Trang', 'Đà Lạt'] },
  { road: 'QL28', kind: 'mountain', through: ['Phan Thiết', 'Bảo Lộc'] },
  { road: 'QL30', kind: 'national', through: ['Mỹ Tho', 'Cao Lãnh'] },
  { road: 'QL32', kind: 'mountain', through: ['Hà Nội', 'Sơn Tây', 'Yên Bái', 'Lai Châu'] },
  { road: 'QL37', kind: 'mountain', through: ['Yên Bái', 'Tuyên Quang', 'Thái Nguyên'] },
  { road: 'QL37', kind: 'national', through: ['Thái Nguyên', 'Bắc Giang', 'Hải Dương'] },
  { road: 'QL38', kind: 'national', through: ['Bắc Ninh', 'Hưng Yên', 'Phủ Lý'] },
  { road: 'QL39', kind: 'national', through: ['Hưng Yên', 'Thái Bình'] },
  { road: 'QL51', kind: 'national', through: ['Biên Hòa', 'Vũng Tàu'] },
  { road: 'QL53', kind: 'national', through: ['Vĩnh Long', 'Trà Vinh'] },
  { road: 'QL55', kind: 'national', through: ['Vũng Tàu', 'La Gi', 'Phan Thiết'] },
  { road: 'QL60', kind: 'national', through: ['Mỹ Tho', 'Bến Tre', 'Trà Vinh', 'Sóc Trăng'] },
  { road: 'QL61C', kind: 'national', through: ['Cần Thơ', 'Vị Thanh'] },
  { road: 'QL61', kind: 'national', through: ['Vị Thanh', 'Rạch Giá'] },
  { road: 'QL63', kind: 'national', through: ['Rạch Giá', 'Cà Mau'] },
  { road: 'QL80', kind: 'national', through: ['Vĩnh Long', 'Sa Đéc', 'Long Xuyên', 'Rạch Giá', 'Hà Tiên'] },
  { road: 'QL91', kind: 'national', through: ['Cần Thơ', 'Long Xuyên', 'Châu Đốc'] },
  { road: 'N1', kind: 'national', through: ['Châu Đốc', 'Hà Tiên'] },
  { road: 'N2', kind: 'national', through: ['Cao Lãnh', 'Long Xuyên'] },
  { road: 'ĐT607', kind: 'national', through: ['Đà Nẵng', 'Hội An', 'Tam Kỳ'] },
  { road: 'Rạch Giá – Phú Quốc', kind: 'ferry', through: ['Rạch Giá', 'Phú Quốc'] },
  { road: 'Hà Tiên – Phú Quốc', kind: 'ferry', through: ['Hà Tiên', 'Phú Quốc'] },
  { road: 'Vũng Tàu – Côn Đảo', kind: 'ferry', through: ['Vũng Tàu', 'Côn Đảo'] },
  { road: 'Sóc Trăng – Côn Đảo', kind: 'ferry', through: ['Sóc Trăng', 'Côn Đảo'] },
  { road: 'Sa Kỳ – Lý Sơn', kind: 'ferry', through: ['Quảng Ngãi', 'Lý Sơn'] },
  { road: 'Phan Thiết – Phú Quý', kind: 'ferry', through: ['Phan Thiết', 'Phú Quý'] },
  { road: 'Hải Phòng – Cát Bà', kind: 'ferry', through: ['Hải Phòng', 'Cát Bà'] },
  { road: 'Vân Đồn – Cô Tô', kind: 'ferry', through: ['Cẩm Phả', 'Cô Tô'] },
]

/** The islands among these places, with their radius in metres. A point within it is on the island. */
export const islands: { readonly [place: string]: number } = {
  'Phú Quốc': 30_000,
  'Côn Đảo': 15_000,
  'Lý Sơn': 8_000,
  'Phú Quý': 8_000,
  'Cát Bà': 13_000,
  'Cô Tô': 12_000,
}

/** Other names of these places. The key is the name shown. */
export const otherNames: { readonly [place: string]: readonly string[] } = {
  'TP. Hồ Chí Minh': ['Ho Chi Minh City', 'HCMC', 'Sài Gòn', 'Saigon', 'Hồ Chí Minh', 'TPHCM', 'Thành phố Hồ Chí Minh'],
  'Hà Nội': ['Hanoi'],
  'Hải Phòng': ['Haiphong'],
  'Quy Nhơn': ['Qui Nhon'],
  'Đồng Hới': ['Kwang Binh', 'Quảng Bình'],
  'Phan Rang': ['Phan Rang-Tháp Chàm'],
  'Châu Đốc': ['Cho Dok', 'Chau Doc'],
  'Đồng Xoài': ['Don Luan'],
  'Uông Bí': ['Thành Phố Uông Bí'],
  'Cẩm Phả': ['Cẩm Phả Mines'],
  'Phú Quốc': ['Dương Đông'],
  'Côn Đảo': ['Côn Sơn', 'Con Dao Islands'],
}

/** The names that English uses. The others are the same in both languages. */
export const englishNames: { readonly [place: string]: string } = {
  'TP. Hồ Chí Minh': 'Ho Chi Minh City',
  'Hà Nội': 'Hanoi',
  'Hải Phòng': 'Haiphong',
  'Đà Nẵng': 'Da Nang',
  Huế: 'Hue',
}
