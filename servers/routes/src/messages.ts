/** Every text that a user reads, in English (the default) and in Vietnamese. */

import type { FailureCode } from './failure.ts'
import type { Language, TravelMode } from './route.ts'

interface FailureText {
  readonly message: string
  readonly hint: string
}

/** `{}` stands for the subject of the failure. */
export const failures: { readonly [language in Language]: { readonly [code in FailureCode]: FailureText } } = {
  vi: {
    INVALID_LOCATIONS_COUNT: {
      message: 'Cần có cả điểm đi và điểm đến.',
      hint: 'Điền origin và destination, ví dụ "Hanoi" và "Ho Chi Minh City".',
    },
    INVALID_LOCATION_FORMAT: {
      message: 'Không hiểu vị trí "{}".',
      hint: 'Dùng tên địa điểm, "vĩ độ,kinh độ" như "21.03,105.85", hoặc { "lat": 21.03, "lon": 105.85 }.',
    },
    INVALID_COORD_RANGE: {
      message: 'Tọa độ "{}" nằm ngoài phạm vi cho phép.',
      hint: 'Vĩ độ từ -90 đến 90, kinh độ từ -180 đến 180; vĩ độ đứng trước.',
    },
    INVALID_WAYPOINTS_RULES: {
      message: 'Danh sách điểm dừng không hợp lệ: {}.',
      hint: 'Tối đa 150 điểm dừng, hai điểm liên tiếp không được trùng nhau.',
    },
    PARAM_CONFLICT_TIME: {
      message: 'Không thể dùng depart_at và arrive_at cùng lúc, hoặc thời gian không hợp lệ.',
      hint: 'Chỉ chọn một, theo ISO 8601, ví dụ 2026-11-16T08:00:00+07:00.',
    },
    INVALID_MAX_ALTERNATIVES: {
      message: 'Số tuyến thay thế "{}" không hợp lệ.',
      hint: 'Dùng số nguyên từ 0 đến 5.',
    },
    PARAM_CONFLICT_ALTERNATIVES: {
      message: 'Không có tuyến thay thế khi có điểm dừng.',
      hint: 'Bỏ waypoints hoặc đặt alternatives là 0.',
    },
    INVALID_TRAVEL_MODE: {
      message: 'Không có phương tiện "{}".',
      hint: 'Dùng car, motorcycle, bicycle hoặc foot.',
    },
    INVALID_POST_BODY_COMBINATION: {
      message: 'Nhà cung cấp "{}" không hỗ trợ kết hợp tùy chọn này.',
      hint: 'Bỏ depart_at và arrive_at, hoặc dùng nhà cung cấp có dữ liệu thời gian (TomTom).',
    },
    PLACE_NOT_FOUND: {
      message: 'Không tìm thấy địa điểm "{}".',
      hint: 'Kiểm tra chính tả, thêm tên nước ("Paris, Pháp"), hoặc dùng tọa độ. Khi không có TOMTOM_API_KEY chỉ có tên các thành phố và thị trấn.',
    },
    NO_ROUTE_FOUND: {
      message: 'Không có đường đi giữa hai điểm này.',
      hint: 'Nếu một điểm ở trên đảo thì không có chuyến phà nào được biết. Nếu không, hãy kiểm tra các điểm có nằm gần đường bộ không, hoặc thử phương tiện khác.',
    },
    NO_ROAD: {
      message: 'Không có đường bộ đến "{}": nơi này ở trên đảo hoặc ngoài biển, và không có chuyến phà nào được biết.',
      hint: 'Chọn điểm khác trên đất liền, hoặc đặt TOMTOM_API_KEY hay OSRM_URL để tìm đường chính xác.',
    },
    DESTINATION_NOT_FOUND: {
      message: 'Không có điểm đến đã lưu "{}".',
      hint: 'Gọi list_destinations để xem các điểm đã lưu.',
    },
    DESTINATION_EXISTS: {
      message: 'Đã có điểm đến tên "{}".',
      hint: 'Dùng update_destination để thay đổi, hoặc chọn tên khác.',
    },
    TOO_MANY_DESTINATIONS: {
      message: 'Đã lưu đủ {} điểm đến.',
      hint: 'Xóa bớt bằng delete_destination.',
    },
    TRAFFIC_NOT_AVAILABLE: {
      message: 'Nhà cung cấp "{}" không có dữ liệu giao thông.',
      hint: 'Dùng calculate_route, hoặc đặt TOMTOM_API_KEY để có dữ liệu giao thông.',
    },
    PROVIDER_UNAVAILABLE: {
      message: 'Dịch vụ tìm đường tạm thời không hoạt động.',
      hint: 'Vui lòng thử lại sau.',
    },
    PROVIDER_REFUSED: {
      message: 'Dịch vụ tìm đường từ chối máy chủ này.',
      hint: 'Người vận hành cần kiểm tra khóa API.',
    },
    PROVIDER_BUSY: { message: 'Có quá nhiều yêu cầu tìm đường.', hint: 'Vui lòng chờ rồi thử lại.' },
    STORAGE_UNAVAILABLE: { message: 'Không ghi được dữ liệu.', hint: 'Người vận hành cần kiểm tra ổ đĩa.' },
  },
  en: {
    INVALID_LOCATIONS_COUNT: {
      message: 'An origin and a destination are needed.',
      hint: 'Give both, for instance "Hanoi" and "Ho Chi Minh City".',
    },
    INVALID_LOCATION_FORMAT: {
      message: 'The location "{}" is invalid.',
      hint: 'Use a place name, "latitude,longitude" such as "21.03,105.85", or { "lat": 21.03, "lon": 105.85 }.',
    },
    INVALID_COORD_RANGE: {
      message: 'The coordinates "{}" are out of range.',
      hint: 'Latitude is -90 to 90, longitude -180 to 180; latitude comes first.',
    },
    INVALID_WAYPOINTS_RULES: {
      message: 'The waypoints are invalid: {}.',
      hint: 'At most 150, and no two in a row the same.',
    },
    PARAM_CONFLICT_TIME: {
      message: 'depart_at and arrive_at exclude each other, and must be times.',
      hint: 'Give one of them, in ISO 8601, such as 2026-11-16T08:00:00+07:00.',
    },
    INVALID_MAX_ALTERNATIVES: {
      message: 'The number of alternatives "{}" is invalid.',
      hint: 'Use a whole number, 0 to 5.',
    },
    PARAM_CONFLICT_ALTERNATIVES: {
      message: 'A route with waypoints has no alternatives.',
      hint: 'Remove waypoints, or set alternatives to 0.',
    },
    INVALID_TRAVEL_MODE: {
      message: 'The travel mode "{}" does not exist.',
      hint: 'Use car, motorcycle, bicycle or foot.',
    },
    INVALID_POST_BODY_COMBINATION: {
      message: 'The provider "{}" cannot combine these options.',
      hint: 'Remove depart_at and arrive_at, or use a provider that supports times (TomTom).',
    },
    PLACE_NOT_FOUND: {
      message: 'The place "{}" was not found.',
      hint: 'Check the spelling, add the country ("Paris, France"), or use coordinates. Without TOMTOM_API_KEY only towns are known, no streets.',
    },
    NO_ROUTE_FOUND: {
      message: 'No route was found between these places.',
      hint: 'If one is on an island, no ferry to it is known. Otherwise check that both lie near a road, or try another travel mode.',
    },
    NO_ROAD: {
      message: 'No road leads to "{}": it is on an island or in the sea, and no ferry is known.',
      hint: 'Choose a place on the mainland, or set TOMTOM_API_KEY or OSRM_URL for exact routes.',
    },
    DESTINATION_NOT_FOUND: {
      message: 'The destination "{}" was not found.',
      hint: 'list_destinations shows the saved ones.',
    },
    DESTINATION_EXISTS: {
      message: 'A destination named "{}" already exists.',
      hint: 'Change it with update_destination, or choose another name.',
    },
    TOO_MANY_DESTINATIONS: {
      message: 'The limit of {} destinations is reached.',
      hint: 'Delete some with delete_destination.',
    },
    TRAFFIC_NOT_AVAILABLE: {
      message: 'The provider "{}" has no traffic data.',
      hint: 'Use calculate_route, or set TOMTOM_API_KEY for traffic data.',
    },
    PROVIDER_UNAVAILABLE: { message: 'The routing service is unavailable.', hint: 'Try again later.' },
    PROVIDER_REFUSED: {
      message: 'The routing service rejected this server.',
      hint: 'The operator must check the API key.',
    },
    PROVIDER_BUSY: { message: 'Too many requests.', hint: 'Wait and try again.' },
    STORAGE_UNAVAILABLE: { message: 'The database cannot be written.', hint: 'The operator must check the disk.' },
  },
}

interface Words {
  readonly summary: string
  readonly didYouMean: (names: string) => string
  readonly route: string
  readonly by: { readonly [mode in TravelMode]: string }
  readonly about: string
  readonly delay: string
  readonly steps: string
  readonly left: (count: number) => string
  readonly other: string
  readonly approximate: string
  /** Said of a route where no roads are known. */
  readonly betweenTowns: string
  readonly ferryNote: string
  readonly follow: (road: string, place: string) => string
  readonly join: (place: string) => string
  readonly goOn: (place: string) => string
  readonly ferry: (line: string, place: string) => string
  readonly onward: string
  readonly jam: string
  readonly hour: string
  readonly minute: string
}

export const words: { readonly [language in Language]: Words } = {
  vi: {
    didYouMean: (names) => `Có phải ${names}?`,
    summary: 'Yêu cầu chưa hợp lệ, vui lòng sửa các mục sau:',
    route: 'Tuyến đường',
    by: { car: 'ô tô', motorcycle: 'xe máy', bicycle: 'xe đạp', foot: 'đi bộ' },
    about: 'khoảng ',
    delay: 'Chậm do giao thông',
    steps: 'Các bước',
    left: (count) => `… bỏ qua ${count} bước, xem đầy đủ trong tài nguyên kèm theo …`,
    other: 'Tuyến khác',
    approximate: 'Khoảng cách là ước tính: tính từ tọa độ và các quốc lộ chính, không đo trên bản đồ.',
    betweenTowns:
      'Chỉ là ước tính: ngoài Việt Nam không có dữ liệu đường bộ. Tuyến đi từ thị trấn này sang thị trấn khác trên đất liền.',
    ferryNote: 'Tuyến này có phà: hãy kiểm tra giờ chạy và phà có chở phương tiện của bạn không.',
    follow: (road, place) => `Theo ${road} đến ${place}`,
    join: (place) => `Đi đường địa phương đến ${place}`,
    goOn: (place) => `Đi tiếp đến ${place}`,
    ferry: (line, place) => `Đi phà ${line} đến ${place}`,
    onward: 'Đi tiếp',
    jam: 'Chậm',
    hour: 'giờ',
    minute: 'phút',
  },
  en: {
    didYouMean: (names) => `Did you mean ${names}?`,
    summary: 'The request is invalid; please fix:',
    route: 'Route',
    by: { car: 'car', motorcycle: 'motorcycle', bicycle: 'bicycle', foot: 'foot' },
    about: 'about ',
    delay: 'Traffic delay',
    steps: 'Steps',
    left: (count) => `… ${count} steps left out, all are in the attached resource …`,
    other: 'Another route',
    approximate: 'Distances are approximate: computed from coordinates and main roads, not measured on a map.',
    betweenTowns:
      'This is a rough estimate: outside Vietnam no roads are known, so the route goes from town to town over land.',
    ferryNote: 'This route takes a ferry: check its times, and whether it carries your vehicle.',
    follow: (road, place) => `Follow ${road} to ${place}`,
    join: (place) => `Take local roads to ${place}`,
    goOn: (place) => `Go on to ${place}`,
    ferry: (line, place) => `Take the ferry ${line} to ${place}`,
    onward: 'Go on',
    jam: 'Slow',
    hour: 'h',
    minute: 'min',
  },
}

/** Maps `vi-VN`, `EN` and the like to a language. English is the default and the fallback. */
export function toLanguage(text: string | undefined): Language {
  return text !== undefined && /^vi\b/i.test(text) ? 'vi' : 'en'
}

const inLocale = (locale: string) =>
  [0, 1].map((maximumFractionDigits) => new Intl.NumberFormat(locale, { maximumFractionDigits })) as [
    Intl.NumberFormat,
    Intl.NumberFormat,
  ]
/** Formatters by fraction digits. They are created once, because creating one takes longer than the rest of a step. */
const numbers = { vi: inLocale('vi-VN'), en: inLocale('en-GB') }

export function formatDistance(metres: number, language: Language): string {
  if (metres < 1000) return `${Math.round(metres)} m`
  const digits = metres < 100_000 ? 1 : 0
  return `${numbers[language][digits].format(metres / 1000)} km`
}

/** An approximate time is rounded: from ten hours on to hours, below to five minutes. */
export function formatDuration(seconds: number, language: Language, isApproximate = false): string {
  const exact = Math.max(1, Math.round(seconds / 60))
  const step = !isApproximate ? 1 : exact >= 600 ? 60 : exact >= 30 ? 5 : 1
  const minutes = Math.round(exact / step) * step
  const { hour, minute } = words[language]
  const hours = Math.floor(minutes / 60)
  if (hours === 0) return `${minutes} ${minute}`
  return minutes % 60 === 0
    ? `${numbers[language][0].format(hours)} ${hour}`
    : `${hours} ${hour} ${minutes % 60} ${minute}`
}
